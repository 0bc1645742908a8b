import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { playwright } from '@vitest/browser-playwright';
import { type Plugin, runnerImport } from 'vite';
import { defineConfig } from 'vitest/config';
import { INPUTS, recordInputs } from './bin/inputs.mjs';
import { mcpServers } from './bin/mcp-servers.mjs';
import { NOTICES, notices } from './bin/notices.mjs';
import { HEADERS, CONTENT_SECURITY_POLICY } from './src/cli/headers.ts';
import { lavapipeDriver } from './src/trainer/node/lavapipe.ts';
import { launchOptions } from './tests/support/chromium.ts';

/** The development server's own scripts and styles need a looser policy. */
const { 'Content-Security-Policy': _, ...isolation } = HEADERS;

/** Adds the content security policy to the built pages, and to the headers for static hosts. */
const policy = (): Plugin => ({
  name: 'policy',
  apply: 'build',
  transformIndexHtml: () => [
    { tag: 'meta', attrs: { 'http-equiv': 'Content-Security-Policy', content: CONTENT_SECURITY_POLICY }, injectTo: 'head-prepend' },
  ],
  generateBundle() {
    const lines = Object.entries(HEADERS).map(([name, value]) => `  ${name}: ${value}\n`);
    this.emitFile({ type: 'asset', fileName: '_headers', source: `/*\n${lines.join('')}` });
  },
});

/** Replaces the module of the defaults by its values: the first page needs those, but no texts and schemas of settings. */
const defaultValues = (): Plugin => ({
  name: 'default-values',
  apply: 'build',
  load: {
    filter: { id: /\/src\/training\/defaults\.ts$/ },
    async handler(id) {
      // An import at the top would load 300 modules at each start of Vite and Vitest, once for each test project.
      const { module, dependencies } = await runnerImport<object>(id);
      inputs.push(...dependencies);
      return Object.entries(module)
        .map(([name, values]) => `export const ${name} = ${JSON.stringify(values)};\n`)
        .join('');
    },
  },
});

/**
 * Makes the workers parts of the page's build, so that they share their code with the page and with each other. Vite alone would build each
 * worker with a copy of everything: 8.2 MB of files for a first visit instead of 5.3 MB.
 */
const sharedWorkers = (): Plugin => {
  const workers = new Map<string, string>();
  return {
    name: 'shared-workers',
    apply: 'build',
    enforce: 'pre',
    buildStart: () => workers.clear(),
    transform: {
      filter: { code: /\.worker\.ts'/ },
      handler(code, importer) {
        return code.replace(/new URL\('([^']+\/([a-z-]+\.worker)\.ts)', import\.meta\.url\)/g, (_, path: string, name: string) => {
          const id = resolve(importer, '..', path);
          if (!workers.has(id)) workers.set(id, this.emitFile({ type: 'chunk', id, name, preserveSignature: 'strict' }));
          return `new URL(import.meta.ROLLUP_FILE_URL_${workers.get(id)})`;
        });
      },
    },
    generateBundle(_, bundle) {
      const started = new Set([...workers.values()].map((reference) => this.getFileName(reference)));
      for (const file of Object.values(bundle))
        for (const imported of file.type === 'chunk' ? file.imports : [])
          if (started.has(imported)) this.error(`${file.fileName} imports ${imported}: expected that only new Worker() starts a worker`);
    },
  };
};

/** Files that many first visits open: what they import is preloaded. The lists for all files would be a seventh of the first page's scripts. */
const PRELOADED = /\/(Story|RecordedLoop|Conversation|Setup|Runs|Learn)-[^/]*$/;

/**
 * Files that only some visits need: the language models that play customers in the tab, the readers of other tools' files and the writer of
 * their adapters, the library for foreign chat templates, the command line's script, results that one page shows, recorded runs that home does not show, and large files, such as
 * the weights of one preset.
 */
const LATER =
  /\/(ort|sql)-wasm|\/(parquet|read-foreign|adapter-folder|headless|jinja)-|\/(local-model|imports|mcp)\.worker|\.onnx$|^recorded\/(?!run\.)|^experiments\//;
/** The sources of more such files. The build gives these files other names. */
const LATER_SOURCES =
  /^(models\/glimpse-timeouts\/|src\/domains\/(airline|agent|multiturn|rooms|library|courses|rentals|jobs|contacts|desk|bookings|plans)\/|src\/(scenarios|mcp)\/|src\/app\/(coldstart\/(Review|Dataset|ColdStart)|models\/Models|worlds\/World\.|mcp\/|Compare\.|evals\/(Labels|Shadow|Reliability)|experiments|share\/train-elsewhere))/;
/** The packages of more such files: servers and clients of MCP, SQLite, expressions of scenario files, and differences of texts. */
const LATER_PACKAGES = /\/node_modules\/(@modelcontextprotocol|@marcbachmann\/cel-js|diff|sql\.js|@kazuph)\//;
/** What chunks have that only scenarios need. */
const OF_SCENARIOS = /\/src\/scenarios\//;
const LARGE_BYTES = 2_000_000;

const SERVICE_WORKER = 'workers/service-worker.js';
/** What the build depends on beside its modules. */
const inputs = ['svelte.config.js', 'tsconfig.json', SERVICE_WORKER];

/** Writes `service-worker.js` with the names of all files of the build. The command line's own page is not for offline use. */
const offline = (): Plugin => {
  const renamed = new Set<string>();
  return {
    name: 'offline',
    apply: 'build',
    generateBundle(_, bundle) {
      const { root } = this.environment.config;
      for (const file of Object.values(bundle)) {
        const sources = file.type === 'asset' ? file.originalFileNames : [relative(root, file.facadeModuleId ?? '')];
        const ids = file.type === 'chunk' ? file.moduleIds : [];
        const isPart = ids.some((id) => LATER_PACKAGES.test(id)) || (ids.length > 0 && ids.every((id) => OF_SCENARIOS.test(id)));
        if (isPart || sources.some((name) => LATER_SOURCES.test(name))) renamed.add(file.fileName);
      }
    },
    async closeBundle() {
      const { root, build } = this.environment.config;
      const out = resolve(root, build.outDir);
      const names = (await readdir(out, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => relative(out, join(entry.parentPath, entry.name)).split(sep).join('/'))
        .filter((name) => !['headless.html', 'service-worker.js', '_headers', INPUTS, NOTICES].includes(name))
        .sort();
      const hash = createHash('sha256');
      const later = new Set<string>();
      for (const name of names) {
        const bytes = await readFile(join(out, name));
        hash.update(name).update(bytes);
        if (LATER.test(name) || renamed.has(name) || bytes.length > LARGE_BYTES) later.add(name);
      }
      const source = await readFile(resolve(root, SERVICE_WORKER), 'utf8');
      const version = hash.digest('hex').slice(0, 16);
      const list = (kept: string[]) => () => JSON.stringify(JSON.stringify(kept));
      const written = source
        .replace("'__FILES__'", list(names.filter((name) => !later.has(name))))
        .replace("'__LATER__'", list([...later]))
        .replace('__VERSION__', version);
      await writeFile(join(out, 'service-worker.js'), written);
    },
  };
};

/** Vitest changes this object, so each project gets a new object. */
const chromium = () => ({
  enabled: true,
  headless: true,
  screenshotFailures: false,
  provider: playwright({ launchOptions }),
  instances: [{ browser: 'chromium' as const }],
});

/** The project gpu-node: its own tests, and the tests of project gpu whose kernels depend on the size of subgroups. */
const NODE_GPU_TESTS = lavapipeDriver()
  ? ['tests/gpu-node/lavapipe/**/*.test.ts', ...['attention', 'chunk-attention', 'exactness'].map((name) => `tests/gpu/${name}.test.ts`)]
  : ['tests/gpu-node/without-lavapipe.test.ts'];

export default defineConfig({
  base: './',
  plugins: [svelte(), sharedWorkers(), defaultValues(), policy(), mcpServers(), notices(), recordInputs(inputs), offline()],
  worker: { format: 'es' },
  server: { headers: isolation },
  preview: { headers: HEADERS },
  // Copies of these two would not find the WebAssembly of onnxruntime-web.
  optimizeDeps: {
    include: ['comlink', 'dexie', '@huggingface/tokenizers', 'zod', 'zod/mini', '@bufbuild/protobuf/wire'],
    exclude: ['onnxruntime-web', '@huggingface/transformers'],
  },
  // index.html is the page. headless.html is the page that the command line opens.
  // No file is inlined as a data: URL, because the page's content security policy forbids them.
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: {
      // Files that other hosts import may run in workers, where Vite's preloading fails.
      resolveDependencies: (file, files, { hostId }) =>
        hostId.endsWith('.html') || (hostId.includes('/index-') && PRELOADED.test(file)) ? files : [],
    },
    rolldownOptions: { input: ['index.html', 'headless.html'] },
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          environment: 'node',
          include: ['tests/unit/**/*.test.ts'],
          setupFiles: ['tests/support/unchanged-process.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // The default of 1 s is too short for a machine that does other work.
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: 'gpu',
          include: ['tests/gpu/**/*.test.ts'],
          provide: { lavapipe: lavapipeDriver() !== undefined },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          browser: chromium(),
        },
      },
      {
        // GPU tests in Node on lavapipe, which has what SwiftShader lacks: f16, subgroups of 8 lanes, and bindings of at most 128 MiB.
        // It takes up to a minute to compile a large kernel, so only a few files run.
        extends: true,
        test: {
          name: 'gpu-node',
          environment: 'node',
          include: NODE_GPU_TESTS,
          setupFiles: ['tests/support/node-gpu.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        // Tests of state classes and components with Svelte's client runtime. Runes work only in files named *.svelte.test.ts.
        extends: true,
        test: {
          name: 'component',
          include: ['tests/component/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
          fileParallelism: false,
          browser: chromium(),
        },
      },
    ],
  },
});
