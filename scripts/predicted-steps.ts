/** @file Predicts the seconds of a GRPO step of SmolLM2-135M with LoRA on GPUs that were not measured, from their data sheets. */
import { conversationTokens } from '../src/bench/conversations.ts';
import { stepWork } from '../src/bench/step-time.ts';
import { LORA_TARGETS } from '../src/engine/lora.ts';
import { SMOLLM2_135M } from '../src/training/pretrained.ts';

/** 8 tasks with 8 rollouts. */
const ROLLOUTS = 64;
/** Whether a run at the level has a reference. */
const WORLDS = { glimpse: false, nano: true, small: true };

/** Peak f32 operations/s, bytes/s of the memory, and seconds that a dispatch takes at least. */
const DEVICES = {
  'RTX 3060 laptop': { operations: 10.9e12, bytes: 336e9, dispatch: 5e-6 },
  'M2, 10 cores': { operations: 3.6e12, bytes: 100e9, dispatch: 6e-6 },
  'Intel Xe, 96 units': { operations: 2.1e12, bytes: 60e9, dispatch: 10e-6 },
  H100: { operations: 60e12, bytes: 3350e9, dispatch: 4e-6 },
};
/** The shares of the peaks that a plain matmul and a copy are assumed to reach. */
const REACHED = { operations: 0.5, bytes: 0.6 };

/** Two digits. */
const short = (value: number): string => String(Number(value.toPrecision(2)));

/** The rows of the table, the head first. */
export const predictedRows = (): string[][] => [
  ['a step at', 'TFLOP', ...Object.keys(DEVICES)],
  ...Object.entries(WORLDS).map(([level, reference]) => {
    const { config } = SMOLLM2_135M;
    const tokens = conversationTokens({ domain: 'retail', level, max_model_len: 0 }, config.vocab_size);
    const lora = { rank: 16, scale: 2, targets: LORA_TARGETS };
    const maxModelLen = 2 * (tokens.prompt + tokens.after);
    const sizes = { maxModelLen, slots: ROLLOUTS, precision: 'bf16', kvFormat: 'f16', lora } as const;
    const { operations, seconds } = stepWork(config, sizes, { rollouts: ROLLOUTS, slots: ROLLOUTS, tokens, reference });
    const times = Object.values(DEVICES).map(({ operations: peak, bytes, dispatch }) => {
      const { generation, score, update } = seconds({ operations: REACHED.operations * peak, bytes: REACHED.bytes * bytes, dispatch });
      const rest = score + update;
      return `${short(generation + rest)} s (${short(generation)} and ${short(rest)})`;
    });
    return [`\`${level}\``, short(operations / 1e12), ...times];
  }),
];
