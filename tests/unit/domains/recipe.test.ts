/** The recipe “a domain” of CONTRIBUTING.md, followed word for word in a copy of the repository, and served by the command line. */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OpenEnvClient } from '../../support/openenv-client.ts';

const root = join(import.meta.dirname, '../../..');
const copy = mkdtempSync(join(tmpdir(), 'recipe-'));
const recipe = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('\n## Recipe: a domain\n')[1]!.split('\n## ')[0]!;
/** The code blocks, each with the file that the line before it names. */
const blocks = [...recipe.matchAll(/^[^\n]*`([^`\n]+)`:\n\n```ts\n(.*?)```$/gms)].map(([, file, code]) => ({ file: file!, code: code! }));

/** Files that git ignores or that the command line does not need. They are not copied. */
const LEFT_OUT = /^(node_modules|\.git|dist.*|out|public|docs|tests|test-results|playwright-report)$/;

let server: ChildProcess;
let url: string;

beforeAll(async () => {
  for (const part of readdirSync(root)) if (!LEFT_OUT.test(part)) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const [folder, line] = blocks;
  mkdirSync(dirname(join(copy, folder!.file)), { recursive: true });
  writeFileSync(join(copy, folder!.file), folder!.code);
  appendFileSync(join(copy, line!.file), line!.code);
  const command = recipe.match(/`\.\/mua (env-serve [^`]*)`/)![1]!.split(' ');
  server = spawn(process.execPath, ['bin/mua.mjs', ...command, '--port', '0', '--json', '--quiet'], { cwd: copy });
  url = await new Promise((resolve, reject) => {
    let [out, errors] = ['', ''];
    server.stderr!.on('data', (text) => (errors += text));
    server.stdout!.on('data', (text) => {
      out += text;
      if (out.includes('\n')) resolve((JSON.parse(out) as { url: string }).url);
    });
    server.once('exit', (code) => reject(new Error(`mua env-serve ended with ${code}: ${errors}`)));
  });
}, 300_000);

afterAll(() => {
  server?.kill('SIGKILL');
  rmSync(copy, { recursive: true, force: true });
});

test('the recipe is one new folder and one line', () => {
  expect(blocks.map(({ file }) => dirname(file))).toEqual(['src/domains/lending', 'src/domains']);
  expect(blocks[1]!.code.trim().split('\n')).toHaveLength(1);
});

/** Plays the loan that `reset` with this seed names, or the other loan. Resolves to the customer's wish and the last answer. */
async function play(seed: number, choose: (wanted: string) => string) {
  const client = await OpenEnvClient.connect(url);
  const { observation } = await client.reset({ seed });
  const wanted = /loan (L\d)/.exec(observation.content)![1]!;
  const renewed = await client.step({ name: 'renew_loan', arguments: { loan: choose(wanted) } });
  const last = await client.step({ content: 'It is renewed.' });
  await client.close();
  return { observation, renewed, last };
}

test('the domain is served: the right call earns reward 1', async () => {
  for (const seed of [0, 1]) {
    const { observation, renewed, last } = await play(seed, (wanted) => wanted);
    expect(observation).toMatchObject({
      role: 'user',
      content: `Please renew loan L${seed + 1}.`,
      tools: [{ function: { name: 'renew_loan' } }],
    });
    expect(renewed).toMatchObject({ observation: { role: 'tool', content: `L${seed + 1} is renewed.` }, done: false });
    expect(last).toMatchObject({ reward: 1, done: true });
  }
});

test('a wrong call earns reward 0', async () => {
  const { last } = await play(0, () => 'L2');
  expect(last).toMatchObject({ reward: 0, done: true });
});
