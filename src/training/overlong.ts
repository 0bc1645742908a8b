/**
 * @file DAPO's soft overlong punishment (arXiv 2503.14476 §3.4; verl's `DAPORewardManager`, setting `overlong_buffer`).
 *
 * As in verl, the length is that of the whole response: everything after the prompt, including the tokens of tools and of the
 * customer. verl's limit is `max_response_length`. Here the limit is `max_model_len`, for prompt and response together.
 */
import type { GrpoConfig } from '../records/run.ts';

/**
 * The amount that is added to the reward of a conversation of `tokens` tokens: 0 up to max_model_len − len. From this length
 * it falls linearly, to −penalty_factor at max_model_len.
 */
export function overlongReward(
  tokens: number,
  config: Pick<GrpoConfig, 'overlong_buffer.enable' | 'overlong_buffer.len' | 'overlong_buffer.penalty_factor' | 'max_model_len'>,
): number {
  if (!config['overlong_buffer.enable']) return 0;
  const exceeded = tokens - (config.max_model_len - config['overlong_buffer.len']);
  return exceeded <= 0 ? 0 : (-exceeded / config['overlong_buffer.len']) * config['overlong_buffer.penalty_factor'];
}
