/** The people of scenarios in the meeting rooms: whole episodes with the world, its tools and its verdict. */
import { beforeAll, describe, expect, it } from 'vitest';
import { parseConversations } from '../../../src/agent/conversation.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { OverlayEnvironments } from '../../../src/environments/index.ts';
import { COLD_START } from '../../../src/environments/conditions.ts';
import type { SynthesizedConversation } from '../../../src/records/dataset.ts';
import { NEAR_MISSES } from '../../../src/records/scenario.ts';
import { readDataset } from '../../../src/training/dataset.ts';
import { type Synthesis, synthesize, type SynthesizeOptions } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';

const environments = new OverlayEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const stage = { environments, users: new ScriptedUsers(customerScripts) };
const make = (options: Partial<SynthesizeOptions>) => synthesize(stage, { domain: 'rooms', level: 'nano', count: 64, seed: 3, ...options });
const spoken = ({ messages }: SynthesizedConversation) => messages.filter(({ role, tool_calls }) => role === 'assistant' && !tool_calls);

it('solves every task if the demonstrator is careful and the tools work', async () => {
  const conditions = { ...COLD_START, tools: { outages: 0, stale_reads: 0, timeouts: 0 } };
  for (const level of ['nano', 'small']) {
    const { solved, tried, conversations } = await make({ level, count: 64, styles: ['careful'], conditions });
    expect({ solved, tried }).toEqual({ solved: 64, tried: 64 });
    expect(conversations.every(({ unconfirmed_writes: writes }) => writes === 0)).toBe(true);
  }
});

it('says many different things', async () => {
  // In 500 conversations, the shop's demonstrator at level nano has 15 texts.
  const { conversations } = await make({ count: 96, seed: 1 });
  const masked = conversations.flatMap(spoken).map(({ content }) =>
    content
      .replace(/\b(?:Monday|Tuesday|Wednesday|Thursday|Friday)\b/g, '_')
      .replace(/(?<=\w )[A-Z][a-z]+/g, '_')
      .replace(/\d+/g, '#'),
  );
  expect(new Set(masked).size).toBeGreaterThan(150);
});

describe('near-misses', () => {
  let made: Synthesis;
  let spoilt: SynthesizedConversation[];
  beforeAll(async () => {
    made = await make({ level: 'small', count: 40, near_misses: 1 });
    spoilt = made.conversations.filter(({ near_miss: label }) => label);
  });

  it('are of all kinds, and stand behind their success', () => {
    expect(new Set(spoilt.map(({ near_miss: label }) => label!.kind))).toEqual(new Set(NEAR_MISSES));
    for (const miss of spoilt) {
      const good = made.conversations[made.conversations.indexOf(miss) - 1]!;
      expect(good.near_miss).toBeUndefined();
      expect(miss.near_miss!.of).toBe(good.id);
      expect(miss.id).not.toBe(good.id);
    }
    const counted = Object.values(made.near_misses!.kept).reduce((sum, count) => sum + count, 0);
    expect(counted).toBe(spoilt.length);
    expect(made.conversations).toHaveLength(40 + spoilt.length);
  });

  it('differ from their success first at the labelled message, and end worse', () => {
    for (const { messages, reward, violations, near_miss: label } of spoilt) {
      const good = made.conversations.find(({ id }) => id === label!.of)!;
      expect(messages.slice(0, label!.first_wrong)).toEqual(good.messages.slice(0, label!.first_wrong));
      expect(messages[label!.first_wrong]).not.toEqual(good.messages[label!.first_wrong]);
      expect(messages[label!.first_wrong]!.role).toBe('assistant');
      expect(reward === 0 || violations.length > good.violations.length).toBe(true);
    }
  });

  it('are played again in the same way, and change no success', async () => {
    const options = { count: 20, near_misses: 0.3 };
    const [once, again, without] = await Promise.all([make(options), make(options), make({ ...options, near_misses: 0 })]);
    expect(again).toEqual(once);
    expect(once.conversations.filter(({ near_miss: label }) => !label)).toEqual(without.conversations);
    expect(without).not.toHaveProperty('near_misses');
    const share = once.conversations.length / 20 - 1;
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.6);
  });

  it('are refused where there are none, and for a share that is none', async () => {
    await expect(make({ domain: 'retail', near_misses: 0.5 })).rejects.toThrow("near_misses: 'retail' has none");
    await expect(make({ near_misses: 1.5 })).rejects.toThrow('near_misses is 1.5: expected a share, 0 to 1');
    await expect(make({ near_misses: 0.5, side: 'customer' })).rejects.toThrow("with side 'customer'");
  });

  it('are left out of training, and kept in datasets with their label', () => {
    const rows = made.conversations.slice(0, 12);
    const jsonl = rows.map((row) => JSON.stringify(row)).join('\n');
    const good = rows.filter(({ near_miss: label }) => !label);
    const notes: string[] = [];
    expect(parseConversations(jsonl, (line) => notes.push(line))).toHaveLength(good.length);
    expect(notes).toEqual([
      expect.stringContaining(`near_miss marks ${rows.length - good.length} of 12 conversations as spoilt on purpose`),
    ]);
    expect(readDataset(jsonl).map(({ near_miss: label }) => label)).toEqual(rows.map(({ near_miss: label }) => label));
    expect(() => parseConversations(JSON.stringify(spoilt[0]))).toThrow('near_miss marks 1 of 1 conversations');
  });

  it('are no training data with a label that cannot be read', () => {
    const row = { messages: [{ role: 'user', content: 'Hi.' }, { role: 'assistant', content: 'Hi.' }], near_miss: 'wrong_record' }; // prettier-ignore
    const jsonl = `${JSON.stringify(row)}\n${JSON.stringify({ ...row, near_miss: undefined })}`;
    expect(parseConversations(jsonl)).toHaveLength(1);
    const notes: string[] = [];
    expect(readDataset(jsonl, (line) => notes.push(line))).toHaveLength(1);
    expect(notes[0]).toContain('near_miss is "wrong_record": expected kind (one of unasked_write');
  });
});
