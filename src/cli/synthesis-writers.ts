/** @file Language models write the conversations of `mua synthesize`. */
import { STEPS, type Attempt, type Spent } from '../records/written.ts';
import type { WriterReport } from '../synthesis/funnel.ts';
import type { AttemptLog, Written } from '../training/model-writer.ts';
import type { Estimate } from '../training/writer-estimate.ts';
import type { Writers } from '../training/write-places.ts';
import type { PlayedPlaces, Playing } from './synthesis-job.ts';

export async function playWriters({ orders, journal, progress, kept }: Playing, writers: Writers): Promise<PlayedPlaces> {
  const { estimatePlaces, writePlaces } = await import('../training/write-places.ts');
  const estimate = await estimatePlaces(orders, writers);
  for (const side of ['agent', 'customer'] as const) if (estimate[side]) progress.note(`mua: ${estimateLine(side, estimate[side])}`);
  const logs = orders.map((_, place): AttemptLog => ({
    done: journal.played<Attempt>(place),
    played: (tried) => journal.add(tried.map(([task, played]) => ({ place, task, played }))),
    spent: (spent) => journal.add([{ spent }]),
  }));
  const { written, spent } = await writePlaces(orders, writers, logs, journal.spent<Spent>(), kept);
  return { places: written, writers: reportOf(writers, written, spent) };
}

function estimateLine(side: string, { requests, prompt, completion, cost }: Estimate): string {
  const about = (value: number) => Number(value.toPrecision(2)).toLocaleString('en-US');
  const price = cost === undefined ? '' : `, cost ${Number(cost.toPrecision(2))}`;
  return `estimate for the ${side}’s model, if each conversation is kept at its first try: ${about(requests)} requests, ${about(prompt)} prompt and ${about(completion)} completion tokens${price}`;
}

function reportOf({ agent, customer }: Writers, written: readonly Written[], spent: Spent): WriterReport {
  const reasons: Record<string, number> = {};
  const wishes: WriterReport['wishes'] = {};
  for (const one of written) {
    for (const [reason, count] of Object.entries(one.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count;
    for (const [wish, { tried, solved }] of Object.entries(one.wishes)) {
      const sum = (wishes[`${one.domain} ${wish}`] ??= { tried: 0, solved: 0 });
      sum.tried += tried;
      sum.solved += solved;
    }
  }
  const refused = Object.fromEntries(STEPS.map((step) => [step, written.reduce((sum, one) => sum + one.refused[step], 0)]));
  return {
    ...(agent && { agent: { model: agent.server.model, temperature: agent.temperature, hint: agent.hint } }),
    ...(customer && { customer: { model: customer.model, temperature: customer.temperature ?? 0 } }),
    refused: refused as WriterReport['refused'],
    reasons,
    wishes,
    spent,
  };
}
