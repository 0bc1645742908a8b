/** A model that judges as a test says. It reads only what the prompt shows, as a real one, and answers in the asked form. */
import { type AgentReply, type AgentRequest, startAgentServer } from './agent-server.ts';

export interface JudgedCase {
  code: string;
  /** The criteria in the order of the prompt. */
  criteria: string[];
  /** The criteria that are statements about who speaks, and whether they hold. */
  controls: Map<string, boolean>;
  /** What each message says, by its number. */
  messages: Map<number, string>;
  /** The whole prompt. */
  text: string;
  seed: number | undefined;
}

export interface FakeVerdict {
  met: unknown;
  message: unknown;
  quote: unknown;
}

export function readCase({ messages, seed }: AgentRequest): JudgedCase {
  const text = messages.at(-1)!.content!;
  const code = /The code of the case is (\w+)\./.exec(text)![1]!;
  const criteria = [...text.slice(text.lastIndexOf('\nCRITERIA\n')).matchAll(/^- (\w+): /gm)].map(([, name]) => name!);
  const said = [...text.matchAll(/^\[(\d+)\] [a-z ]+: (.*)$/gm)].map(([, number, words]) => [Number(number), words!] as const);
  const speakers = new Map(
    [...text.matchAll(/^\[(\d+)\] ([a-z]+)/gm)].map(([, number, who]) => [number!, who === 'result' ? 'a tool' : `the ${who!}`]),
  );
  const controls = [...text.matchAll(/^- (\w+): Message (\d+) comes from (.*)\.$/gm)].map(([, name, number, who]) => [name!, speakers.get(number!) === who] as const); // prettier-ignore
  return { code, criteria, controls: new Map(controls), messages: new Map(said), text, seed };
}

/** Evidence in the last message, for a verdict. */
export function lastMessage({ messages }: JudgedCase): { message: number; quote: string } {
  const [message, quote] = [...messages].at(-1)!;
  return { message, quote };
}

/** A reply that says correctly who speaks. */
export const replyTo = (one: JudgedCase, verdict: (criterion: string) => FakeVerdict): string =>
  replyWith(one, (criterion) => ({ ...verdict(criterion), ...(one.controls.has(criterion) && { met: one.controls.get(criterion) }) }));

export const replyWith = (one: JudgedCase, verdict: (criterion: string) => FakeVerdict): string =>
  JSON.stringify({ case: one.code, verdicts: one.criteria.map((criterion) => ({ criterion, ...verdict(criterion) })) });

/** @param fails the criteria that fail in a case; or the whole reply */
export const startFakeJudge = (fails: (one: JudgedCase) => readonly string[] | AgentReply) =>
  startAgentServer((request) => {
    const one = readCase(request);
    const own = fails(one);
    if (!Array.isArray(own)) return own as AgentReply;
    return { content: replyTo(one, (name) => ({ met: !own.includes(name), ...lastMessage(one) })) };
  });
