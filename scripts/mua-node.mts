/**
 * Runs the long commands of `mua` in Node on Dawn, for a machine with a GPU and no browser. Session, shaders, seeds and folders
 * of runs are the same. Usage: npx tsx scripts/mua-node.mts COMMAND key=value …
 *   synthesize count=2000 out=data.jsonl [level=nano] [demonstrator=both] [seed=1] [customers.…=share …]
 *   sft model=DIR data=FILE out=DIR [any SFT setting=value …]    sft resume=DIR
 *   evaluate model=DIR [split=heldout] [tasks=200] [trials=1] [temperature=1] [seed=1] [level=nano]
 *   train model=DIR preset=nano out=DIR [algorithm=NAME] [any GRPO setting=value …]    train resume=DIR
 *   experiment file=FILE.toml out=DIR    `npx mua experiment FILE.toml --out DIR` prints the table afterwards
 *   bench [workloads=NAME,…]
 * docs/cli.md says which software adapters it runs on.
 */
import type { Style } from '../src/records/dataset.ts';
import type { ModelFiles } from '../src/records/model.ts';
import type { TrainingSink } from '../src/trainer/messages.ts';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findModel } from '../src/cli/files.ts';
import { sha256 } from '../src/cli/out-folder.ts';
import { openExperiment } from '../src/cli/experiment-folder.ts';
import { RunFolder, type SftSettings, type TrainSettings } from '../src/cli/run-folder.ts';
import { nodeSession, readModel } from '../tests/support/node-session.ts';

const [command, ...pairs] = process.argv.slice(2);
const args = Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
const take = (name: string, fallback?: string): string => {
  const value = args[name] ?? fallback;
  if (value === undefined) throw new Error(`${command} needs ${name}=…`);
  delete args[name];
  return value;
};
const scripted = { mode: 'scripted' } as const;
const session = nodeSession();
let reported = 0;
const progress = (done: number, total: number, label: string, metrics?: Record<string, number>) => {
  if (label !== 'step' && performance.now() - reported < 5000) return;
  reported = performance.now();
  const numbers = Object.entries(metrics ?? {}).filter(([name]) =>
    /^(loss|lr|tokens)$|score\/mean|val-core|timing_s\/(gen|ref|update_actor|step)|kl_loss|entropy|valid_query_ratio|all_correct_query_ratio|turns\/mean|only_model\/mean|probs_diff_max|grad_norm|parse_error/.test(
      name,
    ),
  );
  console.error(
    `${(reported / 1000).toFixed(1)}s ${label} ${done}/${total} ${numbers.map(([name, value]) => `${name}=${value.toPrecision(4)}`).join(' ')}`,
  );
};

/** A new folder of `mua COMMAND`, or the one that `resume` names. `settings` takes the arguments that are the run's own. */
async function runFolder(command: string, settings: () => object | Promise<object>): Promise<RunFolder<TrainSettings & SftSettings>> {
  const resume = take('resume', '');
  if (resume) return RunFolder.resume(resume, { flag: 'resume', command, note: console.error });
  const [path, out] = [take('model'), take('out')];
  const model = await findModel(path, { tokenizer: true });
  return RunFolder.create(out, { command, settings: { ...(await settings()), model: path } as TrainSettings & SftSettings, model });
}

/** What the session needs to train in a folder. */
async function openRun(folder: RunFolder<TrainSettings & SftSettings>) {
  const model: ModelFiles = {};
  for (const [name, path] of Object.entries(folder.model.paths)) model[name] = new Uint8Array(await readFile(path));
  const receive = (name: string, body: string | Uint8Array) => folder.receive(name, Buffer.from(body));
  const sink: TrainingSink = {
    progress,
    note: console.error,
    evaluation: (evaluation) => receive('evaluation', JSON.stringify(evaluation)),
    step: (metrics, trajectories) => receive('step', [metrics, ...trajectories].map((line) => JSON.stringify(line)).join('\n')),
    checkpoint: (step, safetensors) => receive(`checkpoint-${step}.safetensors`, safetensors),
  };
  const { logs, checkpoint } = folder.interrupted ?? {};
  const interrupted = checkpoint && logs && { interrupted: { ...logs, checkpoint: new Uint8Array(await readFile(checkpoint)) } };
  return { model, sink, interrupted };
}

async function finished(folder: RunFolder<TrainSettings & SftSettings>, { model, ...result }: { model: ModelFiles }): Promise<object> {
  for (const [name, bytes] of Object.entries(model)) await folder.receive(name, Buffer.from(bytes));
  await folder.receive('finished', Buffer.from(JSON.stringify(result)));
  return result;
}

async function trainIn(folder: RunFolder<TrainSettings & SftSettings>): Promise<object> {
  const { preset, algorithm, overrides, user, val_user } = folder.settings;
  const { model, sink, interrupted } = await openRun(folder);
  return finished(folder, await session.train(model, { preset, algorithm, overrides, user, val_user, ...interrupted }, sink));
}

async function main(): Promise<unknown> {
  switch (command) {
    case 'synthesize': {
      const [style, out] = [take('demonstrator', 'both'), take('out')];
      const { jsonl, ...counts } = await session.synthesize(
        {
          domain: 'retail',
          level: take('level', 'nano'),
          count: Number(take('count')),
          seed: Number(take('seed', '1')),
          ...(style !== 'both' && { styles: [style as Style] }),
        },
        args,
        progress,
      );
      await writeFile(out, jsonl);
      return counts;
    }
    case 'sft': {
      const folder = await runFolder('sft', async () => {
        const data = resolve(take('data'));
        return { data, data_sha256: sha256(await readFile(data)), overrides: args };
      });
      const { data, data_sha256, overrides } = folder.settings;
      const text = await readFile(data, 'utf8');
      if (sha256(text) !== data_sha256) throw new Error(`data is "${data}": it is not the file that the run was started with`);
      const { model, sink, interrupted } = await openRun(folder);
      return finished(folder, await session.sft(model, text, { overrides, ...interrupted }, sink));
    }
    case 'evaluate': {
      const split = take('split', 'heldout') === 'train' ? 'train' : 'heldout';
      const trajectories = take('trajectories', '');
      const options = {
        domain: 'retail',
        level: take('level', 'nano'),
        split,
        tasks: Number(take('tasks', '200')),
        trials: Number(take('trials', '1')),
        temperature: Number(take('temperature', '1')),
        seed: Number(take('seed', '1')),
      } as const;
      if (trajectories) await writeFile(trajectories, '');
      const { reports } = await session.evaluate(await readModel(take('model')), options, [{ user: scripted }], {
        progress,
        trial: async (_, trial) => {
          if (trajectories) await appendFile(trajectories, `${JSON.stringify(trial)}\n`);
        },
      });
      return reports[0];
    }
    case 'train': {
      const folder = await runFolder('train', () => ({
        preset: take('preset', 'nano'),
        algorithm: take('algorithm', ''),
        overrides: args,
        user: scripted,
      }));
      return trainIn(folder);
    }
    case 'experiment': {
      const out = take('out');
      const { content, queue, finish } = await openExperiment({ file: take('file'), out }, console.error);
      for (const { pair, folder } of queue) {
        console.error(`${pair.variant}, seed ${pair.seed}`);
        await trainIn(folder as unknown as RunFolder<TrainSettings & SftSettings>);
        await finish(pair, folder);
      }
      return { out, runs: content.runs.length };
    }
    case 'bench':
      return session.bench(take('workloads', '').split(',').filter(Boolean), progress);
    default:
      throw new Error(`unknown command "${command}": expected synthesize, sft, evaluate, train, experiment or bench`);
  }
}

main().then(
  (result) => {
    console.log(JSON.stringify(result, null, 2));
    process.exit(0);
  },
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
