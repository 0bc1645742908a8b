/** @file The name of a simulated customer, for lists, tables and facts. */
import type { LocalConfig, UserConfig } from '../records/user.ts';

export const DEVICE_NAMES: Record<LocalConfig['device'], string> = { webgpu: 'WebGPU', wasm: 'WASM' };

/** Examples: `scripted`, `qwen3:4b at http://localhost:11434/v1`, `onnx-community/Qwen3-0.6B-ONNX in the tab (WebGPU, q4f16)`. */
export function customerName(user: UserConfig): string {
  if (user.mode === 'scripted') return 'scripted';
  if (user.mode === 'endpoint') return `${user.model} at ${user.baseUrl}`;
  return `${user.model} in the tab (${DEVICE_NAMES[user.device]}, ${user.precision})`;
}
