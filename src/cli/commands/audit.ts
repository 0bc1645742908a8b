/**
 * @file `mua audit`: whether the agent asked before it changed data, and the layers of an evaluation, in conversations of any
 * agent. It runs in Node and needs no GPU.
 */
import { groupBy } from '../../base/group-by.ts';
import { wilson } from '../../base/wilson.ts';
import { CHECKED } from '../../domains/registry.ts';
import { LAYERS, type Layers } from '../../records/layers.ts';
import type { AuditReport } from '../audit.ts';
import { command } from '../command.ts';
import { oneLine, UsageError } from '../errors.ts';
import { checkParent, readText, writeAll } from '../files.ts';
import { openWorld, WORLD_FLAGS } from '../world.ts';
import { DEFAULT_DOMAIN, JSON_FLAG, percent } from './shared.ts';

/** The plain output lists at most so many writes that were not asked for. */
const LISTED = 20;

export const audit = command({
  summary:
    'whether the agent asked for a yes before each write and kept the rules of each layer, in conversations of any agent (OpenAI-style messages)',
  inThread: true,
  positional: { name: 'path', value: 'CONVERSATIONS.jsonl' },
  flags: {
    domain: { type: 'string', value: 'NAME', help: `whose tools the agent called (default ${DEFAULT_DOMAIN})`, choices: CHECKED },
    ...WORLD_FLAGS,
    out: { type: 'string', value: 'FILE.json', help: 'also write the JSON document to this file' },
    json: JSON_FLAG,
  },
  async run({ path, out, ...flags }, progress): Promise<AuditReport> {
    if (!path) throw new UsageError('CONVERSATIONS.jsonl is missing: expected ./mua audit CONVERSATIONS.jsonl');
    if (out !== undefined) await checkParent('out', out);
    const domain = (await openWorld(flags))?.domain ?? flags.domain ?? DEFAULT_DOMAIN;
    const text = await readText(path);
    progress.phase(`reading the conversations of ${path}`);
    const { auditFile } = await import('../audit.ts');
    const report = await auditFile(path, text, domain, progress.update.bind(progress));
    if (out !== undefined) await writeAll({ [out]: `${JSON.stringify(report)}\n` });
    return report;
  },
  show({ conversations }) {
    const writes = conversations.flatMap(({ id, writes: own }) => own.map((write) => ({ id, ...write })));
    const names = [...new Set(writes.map(({ name }) => name))].sort();
    const width = Math.max(...names.map((name) => name.length), 'all writes'.length);
    const row = (label: string, own: typeof writes) => {
      const asked = own.filter((write) => write.asked).length;
      const interval = wilson(asked, own.length);
      const share = interval ? `${percent(asked / own.length)} (${percent(interval.low)} to ${percent(interval.high)})` : 'none';
      return `${label.padEnd(width)}  ${String(own.length).padStart(6)}  ${String(asked).padStart(5)}  ${share}`;
    };
    const unasked = writes.filter(({ asked }) => !asked);
    const others = conversations.flatMap(({ violations }) => violations).filter(({ rule }) => rule !== 'unconfirmed_write').length;
    return [
      `${'write'.padEnd(width)}  writes  asked  share (95 % interval)`,
      ...names.map((name) =>
        row(
          oneLine(name),
          writes.filter((write) => write.name === name),
        ),
      ),
      row('all writes', writes),
      ...unasked.slice(0, LISTED).map(({ id, name, why }) => `  ${oneLine(`${id}: ${name}: ${why}`)}`),
      ...(unasked.length > LISTED ? [`  … and ${unasked.length - LISTED} more: see --json`] : []),
      `${conversations.length} conversations; ${others} other violations`,
      ...layerLines(conversations.map(({ layers }) => layers)),
    ];
  },
});

/** A line lists at most so many rules. */
const RULES = 3;

/** For each layer: how many conversations have no finding, and which rules were broken most often. */
function layerLines(all: readonly Layers[]): string[] {
  return LAYERS.map((name) => {
    const layers = all.map((one) => one[name]);
    const checked = layers.flatMap((layer) => ('na' in layer ? [] : [layer.findings]));
    if (checked.length === 0)
      return `${name}: not checked. ${layers.flatMap((layer) => ('na' in layer ? [layer.na] : []))[0] ?? ''}`.trim();
    const clean = checked.filter((findings) => findings.length === 0).length;
    const interval = wilson(clean, checked.length)!;
    const rules = [...groupBy(checked.flat(), ({ rule }) => rule)].sort(([, a], [, b]) => b.length - a.length);
    const broken = rules.slice(0, RULES).map(([rule, { length }]) => `${rule} ${length}`);
    const share = `${percent(clean / checked.length)} (${percent(interval.low)} to ${percent(interval.high)})`;
    const more = rules.length > RULES ? `, and ${rules.length - RULES} more rules` : '';
    return `${name}: ${clean} of ${checked.length} conversations without a finding, ${share}${broken.length > 0 ? `; ${broken.join(', ')}${more}` : ''}`;
  });
}
