/** ACEBench's classes, loops, prompts and scores against the results of the original Python code. */
import { expect, test } from 'vitest';
import { type AceVerdict, agentScore, setScores } from '../../../../src/benchmarks/acebench/check.ts';
import { sha256 } from '../../../support/bfcl-data.ts';
import { aceFolder, expectedAce, hasAce, replayed } from '../../../support/acebench-data.ts';

if (!hasAce) console.warn(`SKIPPED: ACEBench against its original code: ${aceFolder} and ../expected do not exist`);
const reference = test.skipIf(!hasAce);

type Fields = Record<string, unknown>;
interface ExpectedEntry {
  lang: string;
  kind: string;
  id: string;
  runs: (Fields & { name: string; verdict: AceVerdict })[];
}

/** The fields of ours that the reference has too. */
const common = (ours: Fields, theirs: Fields): Fields => Object.fromEntries(Object.keys(theirs).map((key) => [key, ours[key]]));

reference('1,385 runs of 50 tasks: results, states, errors and both scores', async () => {
  const { entries } = expectedAce<{ entries: ExpectedEntry[] }>('agent');
  const runs = entries.flatMap(({ lang, id: entry, runs }) => runs.map((run) => ({ lang, entry, run })));
  const { cases } = await replayed<Fields>(
    runs.map(({ lang, entry, run: { name, agent, user, max_turns } }) => ({ id: name, lang, entry, agent, user, max_turns })),
  );
  expect(cases).toHaveLength(1385);
  const wrong = runs.flatMap(({ lang, entry, run: { name, agent: _, user: __, max_turns: ___, ...theirs } }, i) => {
    const ours = common(cases[i]!, theirs);
    return JSON.stringify(sorted(ours)) === JSON.stringify(sorted(theirs)) ? [] : [{ lang, entry, name, ours, theirs }];
  });
  expect(wrong.slice(0, 3)).toEqual([]);
});

interface Execution {
  lang: string;
  kind: string;
  tag: string;
  involved_classes: string[];
  initial_config: Fields;
  messages: string[];
  responses: unknown[];
  route?: string[];
  saved: unknown[];
  state_sha256_js: string;
  /** The messages whose results have texts of CPython. */
  python_text?: number[];
}

reference('140 hostile sequences of messages: responses, route and state', async () => {
  const { cases: theirs } = expectedAce<{ cases: Execution[] }>('adversarial');
  const { cases } = await replayed<Execution>(
    theirs.map(({ lang, kind, involved_classes, initial_config, messages }, id) => ({
      id,
      lang,
      kind,
      involved_classes,
      initial_config,
      messages,
    })),
  );
  expect(cases).toHaveLength(140);
  for (const [i, { responses, python_text = [], route, saved, state_sha256_js, ...task }] of theirs.entries()) {
    const ours = cases[i]!;
    const place = `${i} ${task.lang} ${task.kind} ${task.tag}`;
    expect({ route: ours.route, saved: ours.saved }, place).toEqual({ route, saved });
    expect(ours.state_sha256_js, place).toBe(state_sha256_js);
    for (const [n, response] of responses.entries())
      expect(python_text.includes(n) ? withoutReasons(ours.responses[n]) : ours.responses[n], `${place}: ${task.messages[n]}`).toEqual(
        python_text.includes(n) ? withoutReasons(response) : response,
      );
  }
});

/** The results without the texts of errors. */
const withoutReasons = (response: unknown): unknown =>
  JSON.parse(JSON.stringify(response).replace(/"Error during execution: (?:[^"\\]|\\.)+"/g, '"Error during execution"'));

interface Dialogue {
  lang: string;
  kind: string;
  id: string;
  api_agent: boolean;
  agent: string[];
  history: [string, string, unknown][];
  agent_prompts: Fields[];
  user_model_calls: Fields[];
}

reference('62 dialogues: every prompt of the agent and of the simulated user', async () => {
  const { transcripts } = expectedAce<{ transcripts: Dialogue[] }>('protocol');
  const { cases } = await replayed<{ senders: string; agent_prompts: Fields[]; user_model_calls: Fields[] }>(
    transcripts.map(({ lang, id: entry, api_agent, agent }, id) => ({ id, lang, entry, api_agent, agent })),
    true,
  );
  expect(cases).toHaveLength(62);
  for (const [i, { history, agent_prompts, user_model_calls, ...task }] of transcripts.entries()) {
    const ours = cases[i]!;
    const place = `${i} ${task.lang} ${task.id}`;
    expect(ours.senders, place).toBe(history.map(([sender]) => sender[0]).join(''));
    expect(ours.agent_prompts.length, place).toBe(agent_prompts.length);
    for (const [n, { user_tail: _, ...theirs }] of agent_prompts.entries())
      for (const [name, text] of Object.entries(theirs))
        expect(typeof text === 'string' ? ours.agent_prompts[n]![name] : hashed(ours.agent_prompts[n]![name] as string), place).toEqual(
          text,
        );
    expect(ours.user_model_calls.length, place).toBe(user_model_calls.length);
    for (const [n, { messages, messages_sha256 }] of user_model_calls.entries())
      if (messages) expect(ours.user_model_calls[n]!.messages, place).toEqual(messages);
      else expect(sha256(written(ours.user_model_calls[n]!.messages as Fields[])), place).toBe(messages_sha256);
  }
});

const hashed = (text: string) => ({ len: [...text].length, sha256: sha256(text) });
/** As Python's `json.dumps(messages, ensure_ascii=False)` writes them. */
const written = (messages: Fields[]) =>
  `[${messages.map(({ role, content }) => `{"role": "${role as string}", "content": ${JSON.stringify(content)}}`).join(', ')}]`;

reference('the scores of sets, and the score “Agent”', () => {
  const { aggregate, entries } = expectedAce<{
    entries: ExpectedEntry[];
    aggregate: { lang: string; kind: string; picked: string[]; end_to_end_accuracy: number; process_accuracy: number }[];
  }>('agent');
  // Half of the tasks are here. The other half has twins, which differ in their configs only.
  for (const set of aggregate) {
    const verdicts = entries
      .filter(({ lang, kind }) => lang === set.lang && kind === set.kind)
      .map(({ id, runs }) => runs.find(({ name }) => name === set.picked[Number(id.split('_').at(-1))])!.verdict);
    if (set.end_to_end_accuracy === 1) expect(setScores(verdicts)).toEqual({ end_to_end_accuracy: 1, process_accuracy: 1 });
  }
  expect(agentScore(21 / 30, 4 / 20)).toBe(0.45);
});

/** Keys in order, so that values can be compared as texts. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, sorted(child)]),
  );
}
