/** The table of tokens in conversations, measured again with bundled tokenizers. */
import { expect, test } from 'vitest';
import { meanTokens } from '../../../scripts/measured-conversations.ts';
import { conversationTokens } from '../../../src/bench/conversations.ts';
import { bundledTokenizer } from '../../support/tokenizers.ts';

test.each(['glimpse', 'small'])('%s', async (level) => {
  const measured = await meanTokens(bundledTokenizer(`${level}-retail`), level);
  expect(conversationTokens({ domain: 'retail', level, max_model_len: 2048 }, 1000)).toEqual(measured);
});
