/** @file Reads the models that a server lists. */
import { NO_CHAT_MODEL } from './behaviours.ts';
import { RequestFailure } from './failure.ts';

export interface ListedModel {
  name: string;
  /** False if the model makes embeddings, images or speech, or cannot chat for another reason. */
  chats: boolean;
}

type Entry = Record<string, unknown>;

/** @throws RequestFailure if the body is not a list of models */
export function readModels(body: string): ListedModel[] {
  try {
    const parsed = JSON.parse(body) as { data?: Entry[]; models?: Entry[] } | Entry[];
    const entries = Array.isArray(parsed) ? parsed : (parsed.data ?? parsed.models)!;
    return entries.map((entry) => {
      const name = String(entry.id ?? entry.model ?? entry.name);
      return { name, chats: chats(name, entry) };
    });
  } catch {
    throw new RequestFailure('the user endpoint did not answer with a list of models', 'bad_response', { final: true });
  }
}

/** Whether a model can chat, by what the server says of the model, else by its name. */
function chats(name: string, { type, task, capabilities, architecture }: Entry): boolean {
  const { completion_chat: completes } = (isEntry(capabilities) ? capabilities : {}) as { completion_chat?: unknown };
  const { output_modalities: outputs } = (isEntry(architecture) ? architecture : {}) as { output_modalities?: unknown };
  if (typeof completes === 'boolean') return completes;
  if (Array.isArray(outputs) && !outputs.includes('text')) return false;
  if (
    [type, task].some(
      (kind) => typeof kind === 'string' && /embed|rerank|image|audio|speech|transcri|moderation|feature-extraction/i.test(kind),
    )
  )
    return false;
  return !NO_CHAT_MODEL.test(name);
}

const isEntry = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value);
