/** `mua env-serve --answer`: clients play on simulated tools, and an episode without a right answer has no reward. */
import { expect, test } from 'vitest';
import { answerWorld } from '../../../src/cli/answer.ts';
import { openStage } from '../../../src/serve/index.ts';
import { startEnvServer } from '../../../src/serve/server.ts';
import { SERVER_OPTIONS } from '../../support/env-server.ts';
import { OpenEnvClient } from '../../support/openenv-client.ts';

const CALL = { name: 'find_user', arguments: { name: 'Ada' } };

test.each([
  ['noise that passes is the result of the call', { answer: 'noisy@1:refused', unchecked: true }, /this is not possible/],
  ['noise that the checks refuse ends the episode', { answer: 'noisy@1:injected' }, /EXECUTION_ERROR.*injection/],
])('%s', async (_, flags, expected) => {
  await answerWorld('rooms', undefined, flags);
  const { stage, tasks } = await openStage({ domain: 'rooms', level: 'nano', settings: {}, seed: 1, user: { mode: 'scripted' } });
  const { url, stop } = await startEnvServer(stage, tasks, SERVER_OPTIONS);
  try {
    const client = await OpenEnvClient.connect(url);
    await client.reset({ seed: 1 });
    const said = await client.step(CALL).then(JSON.stringify, (error: Error) => error.message);
    expect(said).toMatch(expected);
    await client.close();
  } finally {
    await stop();
  }
});
