/**
 * @file The audit of the simulated customer: finds by deterministic rules what it did wrong in a finished conversation. If a
 * customer leaves early or invents facts, the agent can lose its reward. The audit of the agent is in `agent/violations.ts`.
 * Messages are not trusted, so every search takes linear time.
 */
import { path } from '../base/message-path.ts';
import type { Task, UserScenario } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { CUSTOMER_FAULTS, type CustomerFault, type CustomerFaultKind } from '../records/user.ts';
import { type Event, reportEarlyEnd, reportNoEnd } from './audit-ending.ts';
import { KnownFacts, scenarioText } from './audit-facts.ts';
import { instructionRuns, reportCut, reportEmpty, reportLeak, reportRole, Vocabulary, withoutStops } from './audit-words.ts';
import { GREETING } from './prompt.ts';
import type { CustomerLanguage } from './types.ts';

export interface CustomerAudit {
  faults: CustomerFault[];
  checked: CustomerFaultKind[];
  /** The checks that could not run, or only in part. */
  skipped: { check: CustomerFaultKind; why: string }[];
  /** The checks that a model made instead of the rules. */
  judged?: { model: string; checks: CustomerFaultKind[] };
}

/** The audit reads at most this many characters of a message. The longest message in the results of tau-bench has 1,300. */
const MAX_READ = 131_072;

/** A language that understands nothing, so that checks which need one find nothing. */
const SILENT: CustomerLanguage = {
  listen: () => ({ claims: '', done: false, refused: false, transferred: false, open: false }),
  requests: () => false,
  names: () => false,
  contradictions: () => [],
  tellsEverything: () => false,
};

type Played = Pick<Trajectory, 'nodes' | 'leaf' | 'termination' | 'error' | 'userCalls' | 'customerJudgement'>;

/**
 * Finds the mistakes of the customer in a finished conversation, in the order of its messages. After them come the mistakes
 * that a model found, of the kinds that rules cannot find. Messages that a visitor wrote are read, but not audited.
 * @param given the language of the task's domain. If absent, the checks that must understand a message are skipped
 * @throws if the trajectory's messages form no path
 */
export function auditCustomer(trajectory: Played, task: Pick<Task, 'scenario'>, given?: CustomerLanguage): CustomerAudit {
  const { scenario } = task;
  const language = given ?? SILENT;
  const { customerJudgement: judgement } = trajectory;
  const skipped = skippedChecks(scenario, given !== undefined).filter(({ check }) => !judgement?.checked.includes(check));
  const faults: CustomerFault[] = [];
  const reportAt = (message: number) => (kind: CustomerFaultKind, detail: string) => {
    // Each kind is reported only once for a message.
    if (!faults.some((fault) => fault.message === message && fault.kind === kind)) faults.push({ kind, message, detail });
  };
  const structured = isStructured(scenario);
  // A script may be the instruction itself.
  const runs = scenario.scripted ? new Set<string>() : instructionRuns(scenario.instruction, structured);
  const known = new KnownFacts();
  const vocabulary = new Vocabulary();
  const learn = (text: string) => (known.learn(text), vocabulary.learn(text));
  learn(scenarioText(scenario));
  learn(GREETING);
  const events: Event[] = [];
  let opening: number | null = null;
  let last: number | null = null;
  for (const node of path(trajectory)) {
    for (const call of trajectory.userCalls ?? []) if (call.after === node.id) learn(`${JSON.stringify(call.call.arguments)} ${call.text}`);
    if (node.toolResult && !node.toolResult.error && node.toolResult.changes.length > 0) events.push({ by: 'write' });
    const heard = node.role === 'assistant' && !node.toolCall ? (node.content ?? node.text) : '';
    if (heard) {
      learn(heard);
      events.push({ by: 'agent', text: heard });
    }
    if (node.role !== 'user') continue;
    const text = node.text.slice(0, MAX_READ);
    const first = last === null;
    events.push({ by: 'customer', text });
    opening ??= node.id;
    last = node.id;
    if (node.by !== 'person') {
      const report = reportAt(node.id);
      const said = withoutStops(text);
      if (said !== '' || text.trim() === '') reportEmpty(said, report);
      reportCut(text, vocabulary, report);
      reportRole(text, report);
      reportLeak(text, runs, report);
      for (const fact of known.unknownIn(said)) report('invented_fact', `Nobody told the customer ${fact}.`);
      for (const { field, said: wrong, own } of structured ? language.contradictions(said, scenario) : [])
        report('contradicted', `The customer says ${field} ${wrong}; the scenario has ${own.join(' or ')}.`);
      if (structured && first && withholds(scenario) && language.tellsEverything(said, scenario))
        report('told_everything', 'The first message tells everything; the customer should wait for questions.');
      if (first || node.id === trajectory.leaf || trajectory.termination === 'user_stop') reportEarlyEnd(events, scenario, given, report);
    }
    learn(text);
  }
  if (last !== null) reportNoEnd(events, trajectory.termination, language, reportAt(last));
  reportFailure(trajectory, reportAt(last ?? trajectory.leaf));
  for (const kind of judgement?.found ?? []) {
    const message = (kind === 'told_everything' ? opening : last) ?? trajectory.leaf;
    faults.push({ kind, message, detail: `The model ${judgement!.model} found this fault.`, judge: judgement!.model });
  }
  return {
    faults,
    checked: CUSTOMER_FAULTS.filter((check) => !skipped.some((skip) => skip.check === check && !skip.partly)),
    skipped: skipped.map(({ check, why }) => ({ check, why: judgement?.error ? `${why}, and ${judgement.error}` : why })),
    ...(judgement && judgement.checked.length > 0 && { judged: { model: judgement.model, checks: judgement.checked } }),
  };
}

/** Whether the scenario has more than a text. Imported tasks have only a text. */
const isStructured = ({ benchmark, wishes, identity }: UserScenario): boolean =>
  benchmark === undefined && (wishes.length > 0 || Object.keys(identity).length > 0);

/** Whether the customer must wait for questions before it states the facts of its wish. */
const withholds = ({ persona, tellsAll }: UserScenario): boolean => !(tellsAll ?? persona !== 'on_request');

/** The kinds of mistakes that rules cannot find in tasks of this kind, or only in part. */
export const uncheckedKinds = (scenario: UserScenario): CustomerFaultKind[] =>
  isStructured(scenario) ? [] : skippedChecks(scenario, true).map(({ check }) => check);

/** Reports an answer that the endpoint cut, or that had no text. It is in no message, because the episode ended with an error. */
function reportFailure({ termination, error = '' }: Played, report: (kind: CustomerFaultKind, detail: string) => void): void {
  if (termination !== 'user_error') return;
  if (/cut its answer off|thoughts without an end/.test(error)) report('cut_answer', `The last answer is not complete: ${error}.`);
  if (/empty answer|said nothing/.test(error)) report('empty_answer', `The last answer is empty: ${error}.`);
}

function skippedChecks(scenario: UserScenario, understood: boolean): { check: CustomerFaultKind; why: string; partly?: true }[] {
  if (!isStructured(scenario) || !understood) {
    const why = isStructured(scenario)
      ? 'no rules understand the customers of this domain'
      : 'the task has a text only, so its facts and wishes are not known one by one';
    return [
      { check: 'ended_too_early', why: `${why}; only a first message that ends the conversation is found`, partly: true },
      { check: 'contradicted', why },
      { check: 'told_everything', why },
    ];
  }
  return withholds(scenario) ? [] : [{ check: 'told_everything', why: 'this customer may tell everything at once' }];
}
