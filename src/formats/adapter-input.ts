/** @file The input of the adapters of all engines, and the texts that these adapters share. */
import type { ChatMessage } from '../records/conversation.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { ToolSchema } from '../records/task.ts';

export interface AdapterPlace {
  domain: { name: string; level: string; policy: string; tools: readonly ToolSchema[] };
  /** What the agent says before the customer's first message, or null. */
  greeting: string | null;
  /** The names of the training tasks, as a reset takes them (`resetName`). */
  tasks: readonly string[];
  /** The names of the tasks for validation. */
  validation: readonly string[];
  config: GrpoConfig;
  /** The model to train: its name on the Hub, or its path. */
  model: string;
  /**
   * How the model speaks to the customer. `text`: in plain text, as models of the playground do. `calls`: with the tool `respond`, for
   * models that were trained to call tools.
   */
  form: 'text' | 'calls';
  /** The command that serves the environment. */
  serve: string;
  url: string;
}

export type AdapterInput = Pick<AdapterPlace, 'config' | 'form' | 'model' | 'serve' | 'url'> & {
  title: string;
  tools: readonly ToolSchema[];
  /** The messages before the customer's first message. */
  opening: readonly ChatMessage[];
  /** An upper estimate of the tokens before the agent's first turn, for engines that cut longer prompts. */
  promptTokens: number;
  rows: readonly { task_id: string; seed: number }[];
  /** Rows that are not among `rows`. */
  validation: readonly { task_id: string; seed: number }[];
};

export const jsonl = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
/** A prompt to which the engine adds the customer's first message. */
export const promptOf = ({ opening }: AdapterInput): ChatMessage[] => [...opening, { role: 'user', content: '' }];
/** The rows of a data set of verl or SkyRL. @param more the engine's own columns */
export const dataset = (input: AdapterInput, rows: AdapterInput['rows'], more: object): string =>
  jsonl(rows.map((row) => ({ data_source: 'mua', prompt: promptOf(input), extra_info: row, ...more })));
export const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
/** A Python string literal. A JSON string is one too, if the text has no lone surrogates. */
export const python = (text: string) => JSON.stringify(text);

/** The settings that the server applies, or that matter only in this project's own training. */
const SERVED =
  /^(val_)?(customers|tools)\.|^(val_)?intents$|^(domain|level|conversation_rules|max_turns|malformed_policy|require_done|train_split|filter_noop_tasks|check_outputs|inspect|stop_on_alarm|user_faults|test_freq|val_tasks|val_split|val_domains|val_before_train|val_greedy|val_kwargs|save_freq|precision|kv_cache_|init_weights|algorithm|rft_epochs|sft_)/;

/** The settings that the engine does not have. They are sorted by name, because stored runs have another order than presets. */
const leftOver = (config: GrpoConfig, used: ReadonlySet<string>): [string, unknown][] =>
  Object.entries(config)
    .filter(([name]) => !used.has(name) && !SERVED.test(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));

export const readme = (
  engine: string,
  input: AdapterInput,
  commands: readonly string[],
  notes: readonly string[],
  used: ReadonlySet<string>,
) =>
  [
    `# ${input.title} for ${engine}`,
    '',
    'The environment, the customer and the reward are on the server. The first command starts it:',
    '',
    '```sh',
    input.serve,
    ...commands,
    '```',
    '',
    'MUA_ENV_URL names another server; with a token, write it into the address: http://mua:TOKEN@HOST:PORT.',
    '',
    ...notes.map((note) => `- ${note}`),
    '',
    `Settings of the run without a counterpart in ${engine}, with their values:`,
    '',
    ...leftOver(input.config, used).map(([name, value]) => `- \`${name}\`: ${JSON.stringify(value)}`),
    '',
  ].join('\n');
