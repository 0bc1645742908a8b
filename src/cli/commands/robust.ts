/** @file `mua robust`: the reliability card of an agent. It plays the same tasks under plain and four other conditions. */
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import * as z from 'zod/mini';
import { reworderOf } from '../../domains/registry.ts';
import { natural, number, text } from '../../exchange/schema-fields.ts';
import { PERTURBATIONS, type ReliabilityCard } from '../../records/reliability.ts';
import { type Flags, SEED, type Values, valuesSchema } from '../args.ts';
import { ON } from '../backend.ts';
import { findPlaceData, PLACE_FLAGS } from '../benchmark-data.ts';
import { cardLines } from '../card-lines.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { EvaluationFolder, inOrder, readTrials } from '../evaluation-folder.ts';
import { evaluationSettings, readTasks } from '../evaluation-tasks.ts';
import { checkParent, findModel, pathsOf, writeAll } from '../files.ts';
import { runJob } from '../job.ts';
import { checkProof, keptFlags, type PlayerProof, proofOf } from '../kept-player.ts';
import { SCENARIO } from '../status.ts';
import { type KeptWorld, keptWorldSchema, openWorld, type OpenWorld, resumedWorld, WORLD_FLAGS } from '../world.ts';
import { AGENT_FLAGS, checkPlayer, readAgent } from './agent.ts';
import { checkAlone, JSON_FLAG, keepWhenStopped, MODEL, SET, WEIGHTS } from './shared.ts';

const { default: _seed, ...SEED_FLAG } = SEED;
const TASKS = '100';

const FLAGS = {
  model: {
    ...MODEL,
    required: false,
    help: 'model folder in Hugging Face layout, or a GGUF file (required, except with --agent or --resume)',
  },
  ...AGENT_FLAGS,
  lora: WEIGHTS.lora,
  precision: { ...WEIGHTS.precision, default: undefined, help: `${WEIGHTS.precision.help} (default f32)` },
  ...PLACE_FLAGS,
  level: { ...PLACE_FLAGS.level, choices: undefined },
  ...WORLD_FLAGS,
  split: { type: 'string', value: 'NAME', help: 'train, heldout, unseen, attacks, or a split of --data (default heldout)' },
  tasks: {
    type: 'string',
    value: 'N',
    help: `number of tasks (default ${TASKS}); with --data also a file with task ids (a path with a dot or slash) or the name of a split`,
  },
  trials: { type: 'integer', value: 'K', help: 'episodes for each task under each condition (default 5)', min: 2 },
  temperature: { type: 'number', value: 'T', help: 'sampling temperature; 0 is greedy (default 1)', min: 0 },
  seed: { ...SEED_FLAG, help: `${SEED.help} (default 1)` },
  set: SET,
  out: { type: 'string', value: 'FILE.json', help: 'also write the card to this file; until then, FILE.json.parts keeps what was played' },
  force: { type: 'boolean', help: 'replace the parts that a stopped command left beside --out' },
  resume: { type: 'string', value: 'FILE.json', help: 'continue the command with this --out that was stopped, with its settings' },
  output: { type: 'string', value: 'FILE.jsonl', help: 'also write every trajectory to this file' },
  on: ON,
  json: JSON_FLAG,
} as const satisfies Flags;

type Asked = Omit<Values<typeof FLAGS>, 'on' | 'json'>;
/** The settings of a card, with defaults. */
type Given = Asked & { [Name in 'trials' | 'temperature' | 'seed' | 'precision' | 'tasks']: NonNullable<Asked[Name]> };
/** The settings in the `status.json` of the parts. */
interface Stored extends PlayerProof {
  flags: Given;
  customers: number;
  /** The visitor's own scenario, whose file is among the parts. */
  world?: KeptWorld | undefined;
}
const storedFlags: Record<keyof Given, z.ZodMiniType> = valuesSchema(FLAGS).shape as never;
const storedSchema = z.object({
  flags: z.extend(z.object(storedFlags), { trials: natural, temperature: number, seed: natural, precision: text, tasks: text }),
  customers: z.int().check(z.minimum(1), z.maximum(1 + PERTURBATIONS.length)),
  model_sha256: z.optional(text),
  world: z.optional(keptWorldSchema),
  agent_key: z.optional(text),
  data_sha256: z.optional(text),
});

const NOTHING = 'stopped before the first conversation had ended: nothing is kept';
const NO_OUT = 'stopped: no conversation is kept (with --out FILE.json each one is, and --resume FILE.json continues)';

export const robust = command({
  summary: 'the reliability card of an agent: consistency, robustness, predictability and safety, on scripted customers',
  flags: FLAGS,
  async run({ json: _, on, ...flags }, progress): Promise<ReliabilityCard> {
    const note = (line: string) => progress.note(line);
    const { resumed, kept: known } = flags.resume === undefined ? NEW : await resumedParts(flags.resume, flags, note);
    const given: Given = resumed ? { ...resumed.settings.flags, out: flags.resume } : newFlags({ ...flags, on });
    const { trials, seed, temperature, precision, out, output, force } = given;
    const world = resumed ? known : await openWorld(given);
    const { place, benchmark } = await readTasks(world ? { ...given, domain: world.domain } : given);
    const settings = evaluationSettings(given.set);
    const agent = await readAgent(given);
    const model = given.model === undefined ? undefined : await findModel(given.model, { tokenizer: true, lora: given.lora });
    for (const [flag, file] of Object.entries({ out, output })) if (file !== undefined) await checkParent(flag, file);
    // The customers of a benchmark and of attacks say what their files say.
    const hasOtherWords = !benchmark && place.split !== 'attacks' && (await reworderOf(place.domain)) !== undefined;
    const kinds = [undefined, ...PERTURBATIONS.filter((kind) => kind !== 'customers' || hasOtherWords)];
    const newParts = async (file: string) => {
      const player = agent?.server ?? model!;
      const kept: Given = {
        ...keptFlags(given, player),
        out: undefined,
        force: undefined,
        world: undefined,
        ...(output && { output: resolve(output) }),
      };
      const proof = { ...(await proofOf(player, benchmark)), ...(world && { world: { name: world.domain, sha256: world.sha256 } }) };
      const inputs = [...(model ? pathsOf(model) : []), ...(world ? [world.file] : [])];
      const first = world && { kept: { [SCENARIO]: world.text } };
      return EvaluationFolder.create(partsOf(file), { flags: kept, customers: kinds.length, ...proof }, force, { command: 'robust', inputs, note, ...first }); // prettier-ignore
    };
    const parts = resumed ?? (out === undefined ? null : await newParts(out));
    const played: string[][] = kinds.map(() => []);
    const { card } = await keepWhenStopped(parts && stoppable(parts, out!), parts ? NOTHING : NO_OUT, () =>
      runJob({
        on,
        world,
        request: {
          command: 'evaluate',
          options: {
            ...(agent && { server: agent.server }),
            ...place,
            ...{ trials, temperature, seed, settings, precision },
            card: { agent: agent?.server.model ?? basename(resolve(given.model!)) },
          },
          customers: kinds.map((kind) => ({ user: { mode: 'scripted' }, done: resumed !== null, ...(kind && { perturbed: kind }) })),
        },
        ...(model && { model }),
        benchmark,
        agentKey: agent?.agentKey,
        customers: played.map((own, i) => ({
          ...(resumed && { done: resumed.log(i) }),
          receive: async (body) => {
            if (parts) await parts.receive(i, body);
            else if (output !== undefined) own.push(body.toString('utf8'));
          },
        })),
        progress,
      }),
    );
    const lines = async (i: number) => inOrder(parts ? await readTrials(parts.log(i)) : played[i]!.map((one) => JSON.parse(one) as never));
    const conversations = output === undefined ? [] : (await Promise.all(kinds.map((_kind, i) => lines(i)))).flat();
    await writeAll({
      ...(out !== undefined && { [out]: `${JSON.stringify(card, null, 1)}\n` }),
      ...(output !== undefined && { [output]: conversations.map((one) => `${JSON.stringify(one)}\n`).join('') }),
    });
    await parts?.remove();
    return card!;
  },
  show: cardLines,
});

/** The folder with what was played for a card that is not written yet. */
const partsOf = (out: string) => `${out}.parts`;

const stoppable = (parts: EvaluationFolder<Stored>, out: string) => ({
  stop: (state: 'interrupted' | 'failed', message?: string) => parts.stop(state, message),
  get continuation() {
    return parts.hasTrials ? `${parts.directory} has what was played. To continue: ./mua robust --resume ${out}` : null;
  },
});

/** The settings of a new card, with defaults. */
function newFlags({ on, ...flags }: Asked & { on: string | undefined }): Given {
  checkPlayer({ ...flags, on });
  return {
    ...flags,
    tasks: flags.tasks ?? TASKS,
    trials: flags.trials ?? 5,
    temperature: flags.agentTemperature ?? flags.temperature ?? 1,
    seed: flags.seed ?? 1,
    precision: flags.precision ?? 'f32',
  };
}

const NEW = { resumed: null, kept: undefined };

/** The parts of a stopped command, and its scenario. */
async function resumedParts(resume: string, flags: Asked, note: (line: string) => void) {
  let kept: OpenWorld | undefined;
  checkAlone({ ...flags, resume: undefined }, ['world']);
  if (!(await stat(partsOf(resume)).catch(() => null))) {
    const isDone = await stat(resume).catch(() => null);
    throw new UsageError(
      `--resume is "${resume}": ${isDone ? 'it is done: nothing is left to do' : `there is no ${partsOf(resume)}: expected the --out of a command that was stopped`}`,
    );
  }
  const check = async ({ flags: stored, world, ...proof }: Stored) => {
    await checkProof(resume, stored, proof, await findPlaceData(stored));
    kept = await resumedWorld(resume, partsOf(resume), world, flags.world);
  };
  const resumed = await EvaluationFolder.resume<Stored>(partsOf(resume), check, { command: 'robust', settings: storedSchema, note });
  return { resumed, kept };
}
