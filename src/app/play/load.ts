/** @file Loads the data of the play page: the task with its tools, the conversation to continue, and the models that can answer. */
import { type OtherToken, type Prefix, prefixWith } from '../../agent/prefix.ts';
import type { ModelRef } from '../../records/model.ts';
import type { RunRow } from '../../records/run.ts';
import { type Task, toolsOf } from '../../records/task.ts';
import type { Library } from '../library/library.ts';
import { configOf } from '../branches/play-request.ts';
import { BRANCHES, readOrigin } from '../library/origin.ts';
import { parseFrom, parseToken, worldOf, writeFrom } from '../branches/play-origin.ts';
import { refText, type Weights } from '../library/weights.ts';
import { href } from '../routes/routes.ts';
import { vocabularyOf } from '../conversation/tokens/load-vocabulary.ts';
import { inLine } from '../conversation/tokens/vocabulary.ts';
import { presetModel } from '../library/conversation.ts';
import { askWorlds } from '../clients/worlds-client.ts';
import type { Setting } from './game.svelte.ts';

export interface ModelChoice {
  value: string;
  name: string;
  /** The id of a run or the name of a model, as the query has it. */
  run: string;
  step: number | null;
  ref: ModelRef;
  /** Whether the model understands more English than the scripted customer speaks. */
  english: boolean;
}

export interface Loaded {
  setting: Setting;
  /** The models that can play the agent, at least one. */
  models: ModelChoice[];
  original: WayBack | null;
}

/** The link back: for a branch, to its original; otherwise to the conversation itself. */
export interface WayBack {
  href: string;
  name: string;
  /** The whole conversation, as the query `from` names it; '' for the start of a task. */
  from: string;
}

/** @throws Error that names what is missing or wrong: the rollout, its messages, the token or the task */
export async function loadSetting(library: Library, task: string, from: string, token = ''): Promise<Loaded> {
  const place = from === '' ? null : parseFrom(from);
  if (from !== '' && !place) throw new Error(`from is "${from.slice(0, 80)}": expected place/id@message`);
  const other = token === '' ? null : parseToken(token);
  if (token !== '' && (!other || !place))
    throw new Error(
      `token is "${token.slice(0, 80)}"${place ? '' : ' without a message in from'}: expected index:id and a message in from`,
    );
  const conversation = place && (await library.conversation(place));
  const parent = place?.place === BRANCHES ? conversation!.branchedOff : conversation;
  const found = conversation?.trajectory.task ?? (await freshTask(task));
  const base = conversation?.model ?? presetModel(found);
  const info = await askWorlds((browser) => browser.info(worldOf(found.id)));
  return {
    setting: {
      task: found,
      tools: toolsOf(found, info),
      userTools: info.userTools.length > 0,
      config: configOf(found, conversation?.config),
      start: conversation && { ...place, trajectory: conversation.trajectory },
      token: other && (await withWords(library, base, prefixWith(conversation!.trajectory, place!.node, other), other, conversation!.run)),
      parent: parent?.trajectory ?? null,
      origin: conversation?.origin ?? `task:${found.id}`,
    },
    models: choices(await (conversation ? library.weightsFor(base) : library.weights()), base, conversation?.run?.id),
    original: parent
      ? { href: href(parent.route), name: parent.label, from: writeFrom({ ...readOrigin(parent.origin)!, node: parent.trajectory.leaf }) }
      : conversation && {
          href: href({ name: 'play', domain: found.domain, task: found.id }),
          name: 'The task from its start',
          from: '',
        },
  };
}

/** Adds the words with which the agent's turn begins, for the visitor to read. */
async function withWords(
  library: Library,
  model: string,
  { turn }: Prefix,
  token: OtherToken,
  run: RunRow | null,
): Promise<Setting['token']> {
  const vocabulary = await vocabularyOf(library, model, run);
  if (vocabulary instanceof Error) throw vocabulary;
  return { ...token, words: turn!.tokens.map((id) => inLine(vocabulary.token(id))).join('') };
}

async function freshTask(task: string): Promise<Task> {
  const found = await askWorlds((browser) => browser.task(worldOf(task)));
  if (!found) throw new Error(`there is no task "${task.slice(0, 200)}"`);
  return found.task;
}

/** The models in order: the weights of the run `own`, then `base`, which sampled the conversation, then all others. */
function choices(weights: readonly Weights[], base: string, own?: string): ModelChoice[] {
  // Lists the model even if it is deleted: an attempt to play with it then says what is missing.
  if (weights.length === 0) return choices([{ ref: { kind: 'model', name: base }, name: base, base, english: false }], base);
  const rank = ({ ref, run }: Weights) => (run !== undefined && run === own ? 0 : refText(ref) === base ? 1 : 2);
  return weights
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ ref, name, english }) => {
      const of = ref.kind === 'run' ? { run: ref.run, step: ref.step } : { run: ref.name, step: null };
      return { value: refText(ref), name, ref, english, ...of };
    });
}
