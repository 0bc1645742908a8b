/** @file Recognises the files of `mua shadow --out` and `mua robust --out`, and checks them. */
import type { ReportKind, ReportRow } from '../records/report.ts';
import { readReliability } from './reliability-schema.ts';
import { readShadow } from './shadow-schema.ts';

/** The beginning of a file says what it is. */
const HEAD_BYTES = 4096;
const HEADS: Record<ReportKind, RegExp> = {
  shadow: /^\{\s*"shadow"\s*:\s*\{/,
  reliability: /^\{[^]*"format"\s*:\s*"mua-reliability-card"/,
};

/** What the file is, whatever its name is. Null: no report. */
export async function reportKind(file: Blob): Promise<ReportKind | null> {
  const head = (await file.slice(0, HEAD_BYTES).text()).replace(/^\uFEFF/, '').trimStart();
  return (Object.keys(HEADS) as ReportKind[]).find((kind) => HEADS[kind].test(head)) ?? null;
}

/** What a report measured, for lists. @throws ImportError if the content is wrong */
export function reportTitle(kind: ReportKind, file: string, text: string): ReportRow['title'] {
  if (kind === 'reliability') {
    const { agent, domain, level, split } = readReliability(file, text);
    return `${agent} on ${domain} ${level}, ${split}`;
  }
  const { head, conversations } = readShadow(file, text);
  return `${head.agent.model} beside ${conversations.length} recorded conversation${conversations.length === 1 ? '' : 's'} of ${head.domain}`;
}
