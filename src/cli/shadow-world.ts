/** @file The worlds of recorded conversations, in which a candidate may read. They are in memory, and nothing of the recording is changed. */
import { sameObservation } from '../benchmarks/same-observation.ts';
import type { ShadowOptions } from '../evaluation/shadow/ask.ts';
import type { RecordedConversation, RecordedTurn } from '../evaluation/shadow/turns.ts';
import type { openStage } from '../serve/index.ts';

type Stage = Awaited<ReturnType<typeof openStage>>;

/**
 * The world before a turn: that of the conversation's task, after the recorded calls. It is null if the task is not known, or if a
 * recorded result differs from the one in this world: then the world is another one.
 * @param onOther gets a conversation without a world, once, and why it has none
 */
export function snapshots(
  { stage, tasks }: Stage,
  prefix: string,
  onOther: (conversation: RecordedConversation, why: string) => void,
): NonNullable<ShadowOptions['snapshot']> {
  const { environments } = stage;
  const told = new Set<RecordedConversation['id']>();
  const other = (conversation: RecordedConversation, why: string) => {
    if (!told.has(conversation.id)) onOther(conversation, why);
    told.add(conversation.id);
    return null;
  };
  return async (conversation: RecordedConversation, { events }: RecordedTurn) => {
    const id = conversation.task ?? String(conversation.id);
    let episode: string;
    try {
      const { task } = await tasks.choose({ task_id: id.startsWith(prefix) ? id : prefix + id });
      episode = await environments.start(task);
    } catch (error) {
      return other(conversation, (error as Error).message.replace(/^reset\.task_id/, 'its task'));
    }
    for (const event of events) {
      if (event.kind !== 'tool') continue;
      const { call, result } = event;
      const { text } = await environments.call(episode, call);
      if (sameObservation(result.text, text)) continue;
      await environments.close(episode);
      return other(conversation, `${call.name} has another result in the data than in the file`);
    }
    return { read: (call) => environments.call(episode, call), close: () => environments.close(episode) };
  };
}
