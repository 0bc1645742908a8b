/**
 * The ONNX export on the WebGPU backend of onnxruntime-web: log-probs as in PyTorch, a prompt at once and then with the KV
 * cache. Only in float32, because SwiftShader has no float16.
 */
import * as ort from 'onnxruntime-web/webgpu';
import { expect, test } from 'vitest';
import { onnxDecoder } from '../../src/exchange/onnx/onnx-decoder.ts';
import { onnxFile } from '../../src/exchange/onnx/onnx-file.ts';
import { loadFixture } from '../support/fixtures.ts';
import { logProbs, OnnxPlayer } from '../support/onnx.ts';

const CACHED = 4;

test.each(['qwen3', 'qwen2'])('%s', async (name) => {
  const { config, weights, figures } = await loadFixture(name);
  const { tokens, logprobs } = figures.sequences[0]!;
  const player = await OnnxPlayer.open(ort, onnxFile(onnxDecoder(config, weights)), config, { provider: 'webgpu' });
  const [logits] = await player.append([tokens.slice(0, -CACHED)]);
  for (const token of tokens.slice(-CACHED)) logits!.push(...(await player.append([[token]]))[0]!);
  const got = logProbs(logits!, tokens);
  const expected = logprobs.slice(-got.length);
  expect(Math.max(...got.map((value, i) => Math.abs(value - expected[i]!)))).toBeLessThan(1e-3);
  await player.session.release();
});
