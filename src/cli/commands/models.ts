/** @file `mua models`: lists pretrained models to download, and what they need on this GPU. */
import { PRETRAINED } from '../../training/pretrained.ts';
import { HUB } from '../../base/hub.ts';
import { grpoConfig } from '../../training/config.ts';
import { PRESETS } from '../../training/presets.ts';
import { ON } from '../backend.ts';
import { command } from '../command.ts';
import { runJob } from '../job.ts';
import { ESTIMATED, inBytes, inTime } from './plan-texts.ts';
import { JSON_FLAG } from './shared.ts';

export const models = command({
  summary: 'list pretrained models to download, with what they need on this GPU; nothing is downloaded',
  flags: { on: ON, json: JSON_FLAG },
  async run({ on }, progress) {
    const asked = PRETRAINED.flatMap(({ config: model, preset }) => [
      { model, config: grpoConfig(preset) },
      { model, config: grpoConfig(preset, PRESETS[preset]!.coldStart) },
    ]);
    const needs = await runJob({ on, request: { command: 'needs', asked }, progress });
    return PRETRAINED.map(({ title, name, bytes, licence, preset }, i) => ({
      title,
      bytes,
      licence,
      preset,
      address: addressOf(name),
      ...needs[2 * i]!,
      cold_start_seconds: PRESETS[preset]!.coldStart ? (needs[2 * i + 1]!.seconds?.run ?? null) : null,
    }));
  },
  show: (list) => [
    ...list.flatMap(({ title, bytes, licence, preset, address, memory, problem, seconds, cold_start_seconds }) => [
      `${title}, ${licence}`,
      `  download     ${inBytes(bytes)}: ${address}`,
      `  preset       ${preset}`,
      ...(memory === undefined ? [`  does not fit ${problem}`] : [`  GPU memory   ${inBytes(memory)}`]),
      ...(cold_start_seconds === null ? [] : [`  cold start   ${inTime(cold_start_seconds)}`]),
      ...(seconds ? [`  GRPO step    ${inTime(seconds.step)}`] : []),
    ]),
    ESTIMATED,
  ],
});

/** Where the Hub shows a model, or has its GGUF file. */
function addressOf(name: string): string {
  const [owner, repository, file] = name.split('/');
  return file === undefined ? `${HUB}/${name}` : `${HUB}/${owner}/${repository}/resolve/main/${file}`;
}
