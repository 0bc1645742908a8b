/** @file Near-misses beside the conversations of demonstrators: which kinds are played, and whether the outcome fits the label. */
import { equalJson } from '../base/json.ts';
import type { SynthesizedConversation } from '../records/dataset.ts';
import type { Json } from '../records/json.ts';
import { NEAR_MISSES, type NearMiss, type NearMissKind } from '../records/scenario.ts';

/** A conversation, and the agent's first wrong message, if a demonstrator spoilt it on purpose. */
export interface Played {
  conversation: SynthesizedConversation;
  firstWrong: number | null;
}

/** The key of the random draw that decides whether a success gets a near-miss. */
export const NEAR_MISS = 9;
/** For each success, so many kinds are tried until one of them ends badly. */
const MOST_TRIED = 3;

/** The near-misses of one synthesis. The kinds take turns, so that each is shown as often as the tasks allow. */
export class NearMissCount {
  readonly kept = Object.fromEntries(NEAR_MISSES.map((kind) => [kind, 0])) as Record<NearMissKind, number>;
  dropped = 0;

  /** Plays near-misses of a success. Null: none of them ended badly. @param allowed the kinds that the task allows */
  async make(
    success: SynthesizedConversation,
    allowed: readonly NearMissKind[],
    play: (kind: NearMissKind) => Promise<Played | null>,
  ): Promise<SynthesizedConversation | null> {
    const rarest = [...allowed].sort((a, b) => this.kept[a] - this.kept[b] || NEAR_MISSES.indexOf(a) - NEAR_MISSES.indexOf(b));
    for (const kind of rarest.slice(0, MOST_TRIED)) {
      const played = await play(kind);
      const near_miss = played && labelOf(kind, success, played.conversation, played.firstWrong);
      if (near_miss) {
        this.kept[kind] += 1;
        return { ...played.conversation, id: `${success.id}#${kind}`, near_miss };
      }
      this.dropped += 1;
    }
    return null;
  }
}

/** The label of a near-miss. Null if the conversation is none: it differs elsewhere from its success, or does not end worse. */
function labelOf(
  kind: NearMissKind,
  success: SynthesizedConversation,
  { messages, reward, violations }: SynthesizedConversation,
  firstWrong: number | null,
): NearMiss | null {
  if (firstWrong === null) return null;
  // The demonstrator does not get the system message.
  const first_wrong = firstWrong + (messages[0]?.role === 'system' ? 1 : 0);
  const differs = messages.findIndex((message, i) => !equalJson(message as unknown as Json, success.messages[i] as unknown as Json));
  const isWorse = reward === 0 || violations.length > success.violations.length;
  return differs === first_wrong && isWorse ? { kind, first_wrong, of: success.id } : null;
}
