/** @file Checks a server that plays customers before any work begins, for the command line. */
import type { EndpointConfig } from '../records/user.ts';
import { EndpointClient } from '../users/endpoint/client.ts';
import { checkEndpoint } from '../users/endpoint/config.ts';
import { UserError } from '../users/types.ts';
import { serverWaits } from '../users/waits.ts';

/** Calls `listener` with what the customers of this process wait for; '' for nothing. */
export const listenToWaits = (listener: (text: string) => void): void => serverWaits.listen(listener);

/** @throws UserError (`bad_response`) if a field of the configuration is invalid */
export function checkServer(config: EndpointConfig): void {
  checkEndpoint(config);
}

/** The first model of the server that can chat. @throws UserError if the server has none, or does not list its models */
export async function firstChatModel(server: Pick<EndpointConfig, 'baseUrl' | 'apiKey'>): Promise<string> {
  const client = new EndpointClient({ ...server, model: 'any', timeoutMs: 5000, maxRetries: 2 }, { backoffMs: 200 });
  const models = await client.models();
  const chat = models.find(({ chats }) => chats);
  if (chat) return chat.name;
  throw new UserError(models[0] ? `it lists no chat model, only ${models[0].name}` : 'it lists no model', 'bad_response');
}
