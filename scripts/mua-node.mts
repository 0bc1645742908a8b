/**
 * Runs the long commands of `mua` (synthesize, sft, train, evaluate) in Node on Dawn, for a machine with a GPU and no browser.
 * Session, shaders and seeds are the same. Usage: npx tsx scripts/mua-node.mts COMMAND key=value …
 *   synthesize count=2000 out=data.jsonl [level=nano] [demonstrator=both] [carelessness=0] [seed=1] [customers.…=share …]
 *   sft model=DIR data=FILE out=DIR [any SFT setting=value …]
 *   evaluate model=DIR [split=heldout] [tasks=200] [trials=1] [temperature=1] [seed=1] [level=nano]
 *   train model=DIR preset=nano out=DIR [algorithm=NAME] [any GRPO setting=value …]
 */
import type { Style } from '../src/records/dataset.ts';
import type { ModelFiles } from '../src/records/model.ts';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

const sink = { progress, note: console.error, evaluation: () => {}, checkpoint: () => {} };

async function save(directory: string, files: ModelFiles): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(directory, name), bytes);
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
          carelessness: Number(take('carelessness', '0')),
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
      const [model, data, out] = [await readModel(take('model')), await readFile(take('data'), 'utf8'), take('out')];
      const { model: trained, losses, tokens, seconds } = await session.sft(model, data, { overrides: args }, { ...sink, step: () => {} });
      await save(out, trained);
      return {
        first_loss: losses[0],
        last_loss: losses.at(-1),
        steps: losses.length,
        tokens,
        seconds,
        tokens_per_second: tokens / seconds,
      };
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
      const [model, preset, out] = [await readModel(take('model')), take('preset', 'nano'), take('out')];
      const algorithm = take('algorithm', '');
      await mkdir(out, { recursive: true });
      const files = [join(out, 'metrics.jsonl'), join(out, 'trajectories.jsonl')] as const;
      for (const file of files) await writeFile(file, '');
      const {
        model: trained,
        before,
        after,
        ...rest
      } = await session.train(
        model,
        { preset, overrides: args, user: scripted, algorithm },
        {
          ...sink,
          step: async (metrics, trajectories) => {
            await appendFile(files[0], `${JSON.stringify(metrics)}\n`);
            await appendFile(files[1], trajectories.map((trajectory) => `${JSON.stringify(trajectory)}\n`).join(''));
          },
        },
      );
      await save(out, trained);
      return { ...rest, before: before?.pass_hat[0], after: after?.pass_hat[0] };
    }
    default:
      throw new Error(`unknown command "${command}": expected synthesize, sft, evaluate or train`);
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
