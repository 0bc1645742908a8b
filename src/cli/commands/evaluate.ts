/** @file `mua evaluate`: measures the success of a model, here or behind a server, with one or more customers, on generated tasks or on the tasks of a benchmark. */
import { basename, resolve } from 'node:path';
import * as z from 'zod/mini';
import { natural, number, text } from '../../exchange/schema-fields.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { UserConfig } from '../../records/user.ts';
import type { AgentServer } from '../../records/agent-server.ts';
import type { EvaluateOptions, EvaluateReport, EvaluateResult } from '../../trainer/messages.ts';
import { ANSWER_FLAGS, answerLines, type AnswerReport, answerReport, answerWorld, RECORDED } from '../answer.ts';
import { camelCase, type Flags, SEED, type Values, valuesSchema } from '../args.ts';
import { type BenchmarkData, findPlaceData, PLACE_FLAGS } from '../benchmark-data.ts';
import { ON } from '../backend.ts';
import { WITH_ATTACKS, WITH_UNSEEN } from '../../domains/registry.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { FOLDER } from '../customer-folder.ts';
import { EvaluationFolder, inOrder } from '../evaluation-folder.ts';
import { differenceLines, reportLines } from '../evaluation-lines.ts';
import { evaluationSettings, readTasks, TASKS } from '../evaluation-tasks.ts';
import { checkParent, findModel, type ModelFolder, pathsOf, writeAll } from '../files.ts';
import { runJob } from '../job.ts';
import { checkKeyOrigin, keyProof } from '../key-origin.ts';
import { checkProof, keptFlags, type PlayerProof, proofOf } from '../kept-player.ts';
import { SCENARIO } from '../status.ts';
import { type KeptWorld, keptWorldSchema, openWorld, type OpenWorld, resumedWorld, trainedWorld, WORLD_FLAGS } from '../world.ts';
import { AGENT_FLAGS, checkPlayer, readAgent } from './agent.ts';
import { readUsers } from './customers.ts';
import { RESULTS_FLAGS, resultsFile } from './results-flags.ts';
import { checkAddress } from './server.ts';
import { checkAlone, JSON_FLAG, keepWhenStopped, MODEL, SET, USER_FLAGS, WEIGHTS } from './shared.ts';

const { default: _seed, ...SEED_FLAG } = SEED;

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
  ...ANSWER_FLAGS,
  split: {
    type: 'string',
    value: 'NAME',
    help: `train, heldout, unseen (${WITH_UNSEEN.join(', ')}: other names, products and words), attacks (${WITH_ATTACKS.join(', ')}: small, full), or a split of --data (default: heldout; with --data: test, or base if there is no test)`,
  },
  tasks: {
    type: 'string',
    value: 'N',
    help: `number of tasks (default ${TASKS}); with --data also a file with task ids (a path with a dot or slash) or the name of a split (default all)`,
  },
  'skip-noop': { type: 'boolean', help: 'skip tasks that an agent solves by doing nothing' },
  'next-call': {
    type: 'boolean',
    help: 'also measure the next call after each part of the right conversation (BFCL, and multi-step tasks of ACEBench)',
  },
  trials: { type: 'integer', value: 'K', help: 'episodes for each task (default 1)', min: 1 },
  temperature: { type: 'number', value: 'T', help: 'sampling temperature; 0 is greedy (default 1)', min: 0 },
  seed: { ...SEED_FLAG, help: `${SEED.help} (default 1)` },
  preset: {
    type: 'string',
    value: 'NAME',
    help: 'preset with the settings of the episodes, e.g. faithful for those of MUA-RL (default: the one for the domain and level)',
  },
  set: SET,
  ...USER_FLAGS,
  user: {
    ...USER_FLAGS.user,
    type: 'list',
    default: undefined,
    help: `${USER_FLAGS.user.help} (default scripted); may be repeated, to compare customers on the same tasks`,
  },
  output: { type: 'string', value: 'FILE.jsonl', help: 'also write every trajectory to this file' },
  ...RESULTS_FLAGS,
  out: { type: 'string', value: 'DIR', help: 'new folder for the result and for the trials, each written when it ends' },
  force: { type: 'boolean', help: 'replace the evaluation that --out already holds' },
  resume: { type: 'string', value: 'DIR', help: 'continue an evaluation that was stopped, with its settings' },
  on: ON,
  json: JSON_FLAG,
} as const satisfies Flags;

type Asked = Omit<Values<typeof FLAGS>, 'on' | 'json'>;
/** The settings of an evaluation, with defaults. */
type Given = Asked & { [Name in 'trials' | 'temperature' | 'seed' | 'precision']: NonNullable<Asked[Name]> };
/** The settings in `status.json`. */
interface Stored extends PlayerProof {
  flags: Given;
  customers: number;
  /** The visitor's own scenario, whose file is in the folder. */
  world?: KeptWorld | undefined;
  /** Binds the key of the customer's server to its address (`keyProof`). */
  key?: string | undefined;
}
const storedFlags: Record<keyof Given, z.ZodMiniType> = valuesSchema(FLAGS).shape as never;
const storedSchema = z.object({
  flags: z.extend(z.object(storedFlags), {
    trials: natural,
    temperature: number,
    seed: natural,
    precision: text,
  }),
  customers: z.int().check(z.minimum(1), z.maximum(1000)),
  model_sha256: z.optional(text),
  world: z.optional(keptWorldSchema),
  key: z.optional(text),
  agent_key: z.optional(text),
  data_sha256: z.optional(text),
});
/** With one customer, the result is its report. With several, it has one report each, and their differences from the first customer. */
type Result = { out?: string; tools?: AnswerReport } & (
  EvaluateReport | { customers: ({ user: string } & EvaluateReport)[]; differences: EvaluateResult['differences'] }
);

/** The messages of an evaluation that is stopped and cannot be continued. */
const NO_TRIAL = 'stopped before the first trial had ended: nothing is kept';
const NO_FOLDER = 'stopped: no trial is kept (with --out DIR each one is, and --resume DIR continues)';

export const evaluate = command({
  summary: 'measure a model: pass^1 … pass^K with 95 % confidence intervals, terminations, violations, tool calls',
  flags: FLAGS,
  async run({ json: _, on, ...flags }, progress): Promise<Result> {
    const note = (line: string) => progress.note(line);
    const { resumed, kept } = flags.resume === undefined ? NEW : await resumedFolder(flags.resume, flags, note);
    const given: Given = resumed ? resumed.settings.flags : newFlags({ ...flags, on });
    const { output, out } = given;
    if (given.answer?.startsWith('http') && (out ?? resumed))
      throw new UsageError(
        '--out is given: expected no --out with --answer URL, whose answers differ each time; --cassette FILE keeps them',
      );
    const world = resumed ? kept : await worldOf(given, note);
    const { place, benchmark } = await readTasks(world ? { ...given, domain: world.domain } : given);
    const answers = await answerWorld(place.domain, on, given);
    const settings = evaluationSettings(given.set);
    const agent = await readAgent(given);
    const model = given.model === undefined ? undefined : await findModel(given.model, { tokenizer: true, lora: given.lora });
    if (output) await checkParent('output', output);
    const results = resultsFile(given);
    if (results) await checkParent(results.flag, results.file);
    const { users, userEndpoint, folders } = await readUsers(given);
    const { trials, temperature, seed, preset } = given;
    const options: EvaluateOptions = {
      ...(agent && { server: agent.server }),
      ...place,
      trials,
      temperature,
      seed,
      ...(preset !== undefined && { preset }),
      settings,
      skip_noop: given.skipNoop ?? false,
      ...(given.nextCall && { next_call: true }),
      precision: given.precision,
      ...(results && { results: { benchmark: results.benchmark, model: agent?.server.model ?? basename(resolve(given.model!)) } }),
    };
    const folder =
      resumed ?? (out === undefined ? null : await newFolder(given, users, agent?.server ?? model!, { benchmark, world }, note));
    const trajectories: Trajectory[] = [];
    const { reports, differences } = await keepWhenStopped(folder, folder ? NO_TRIAL : NO_FOLDER, () =>
      runJob({
        on: answers ? 'node' : on,
        world,
        request: { command: 'evaluate', options, customers: users.map((user) => ({ user, done: resumed !== null })) },
        ...(model && { model }),
        benchmark,
        userEndpoint,
        agentKey: agent?.agentKey,
        folders,
        customers: users.map((_user, i) => ({
          ...(resumed && { done: resumed.log(i) }),
          receive: async (trajectory) => {
            if (output) trajectories.push(JSON.parse(trajectory.toString('utf8')) as Trajectory);
            await folder?.receive(i, trajectory);
          },
        })),
        progress,
      }),
    );
    const written = reports[0]!.results;
    await writeAll({
      ...(output && {
        [output]: inOrder(trajectories)
          .map((trajectory) => `${JSON.stringify(trajectory)}\n`)
          .join(''),
      }),
      ...(results && { [results.file]: `${JSON.stringify(written, null, 1)}\n` }),
    });
    for (const report of reports) delete report.results;
    const result: Result =
      reports.length === 1 ? reports[0]! : { customers: reports.map((report, i) => ({ user: given.user[i]!, ...report })), differences };
    await folder?.finish(result);
    const tools = answers && answerReport(answers);
    return { ...result, ...(folder && { out: folder.directory }), ...(tools && { tools }) };
  },
  show({ out, tools, ...result }) {
    const own =
      'customers' in result
        ? [
            ...result.customers.flatMap(({ user, ...own }) => [`customer ${user}`, ...reportLines(own).map((line) => `  ${line}`)]),
            ...differenceLines(
              result.customers.map(({ user }) => user),
              result.differences,
            ),
          ]
        : reportLines(result);
    const lines = [...own, ...(tools ? answerLines(tools) : [])];
    if (out === undefined) return lines;
    const unscored = ('customers' in result ? result.customers : [result]).some((report) => report.unscored > 0);
    const again = unscored ? [`to play the unscored episodes again: ./mua evaluate --resume ${out}`] : [];
    return [...lines, `results in ${out}`, ...again];
  },
});

/** The scenario of `--world`; else the scenario on which the model was trained, if no flag names the tasks. */
async function worldOf({ model, ...flags }: Given, note: (line: string) => void): Promise<OpenWorld | undefined> {
  const place = [flags.world, flags.domain, flags.rules, flags.data, flags.level];
  if (model === undefined || place.some((flag) => flag !== undefined)) return openWorld(flags);
  const world = await trainedWorld(model);
  if (world) note(`mua: playing ${world.domain}, on which the model was trained: ${world.file}`);
  return world;
}

/** The flags of a new evaluation, with defaults. */
function newFlags({ on, ...flags }: Asked & { on: string | undefined }): Given {
  const { output, out, user } = flags;
  const results = resultsFile(flags);
  checkPlayer({ ...flags, on });
  if (output && out) throw new UsageError(`--output is "${output}": expected no --output with --out, which keeps every trajectory`);
  const single = results ? `--${results.flag}` : output ? '--output' : undefined;
  if (single && user.length > 1) throw new UsageError(`${single} is given: expected one --user with it, or --out`);
  return {
    ...flags,
    trials: flags.trials ?? 1,
    temperature: flags.agentTemperature ?? flags.temperature ?? 1,
    seed: flags.seed ?? 1,
    precision: flags.precision ?? 'f32',
    user: user.length === 0 ? ['scripted'] : user,
  };
}

async function newFolder(
  flags: Given,
  users: readonly UserConfig[],
  agent: ModelFolder | AgentServer,
  { benchmark, world }: { benchmark: BenchmarkData | undefined; world: OpenWorld | undefined },
  note: (line: string) => void,
): Promise<EvaluationFolder<Stored>> {
  const server = users.find((user) => user.mode === 'endpoint');
  if (server) checkAddress('--user', server.baseUrl, 'MUA_USER_KEY');
  const { out, force, answer, cassette } = flags;
  const results = resultsFile(flags);
  const kept = {
    ...keptFlags(flags, agent),
    output: undefined,
    out: undefined,
    force: undefined,
    user: flags.user.map((user) => (user.startsWith(FOLDER) ? FOLDER + resolve(user.slice(FOLDER.length)) : user)),
    world: undefined,
    ...(answer?.startsWith(RECORDED) && { answer: RECORDED + resolve(answer.slice(RECORDED.length)) }),
    ...(cassette !== undefined && { cassette: resolve(cassette) }),
    ...(results && { [camelCase(results.flag)]: resolve(results.file) }),
    // Store the model's name, because the server may list another model first when the evaluation is resumed.
    ...(server && { userModel: server.model }),
  };
  const key = server && keyProof('MUA_USER_KEY', server.baseUrl);
  const settings = {
    flags: kept,
    customers: users.length,
    ...(await proofOf(agent, benchmark)),
    ...(world && { world: { name: world.domain, sha256: world.sha256 } }),
    ...(key && { key }),
  };
  const inputs = [...('files' in agent ? pathsOf(agent) : []), ...(world ? [world.file] : [])];
  return EvaluationFolder.create(out!, settings, force, { inputs, note, ...(world && { kept: { [SCENARIO]: world.text } }) });
}

const NEW = { resumed: null, kept: undefined };

/** The folder of a stopped evaluation, and its scenario. */
async function resumedFolder(resume: string, flags: Asked, note: (line: string) => void) {
  let kept: OpenWorld | undefined;
  checkAlone({ ...flags, resume: undefined }, ['world']);
  const check = async ({ flags: stored, key, world, ...proof }: Stored) => {
    for (const user of stored.user) checkKeyOrigin('MUA_USER_KEY', resume, user, key, 'expected a new evaluation, or no MUA_USER_KEY');
    await checkProof(resume, stored, proof, await findPlaceData(stored));
    kept = await resumedWorld(resume, resume, world, flags.world);
  };
  const resumed = await EvaluationFolder.resume<Stored>(resume, check, { settings: storedSchema, note });
  return { resumed, kept };
}
