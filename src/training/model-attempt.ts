/** @file One conversation in which a language model plays the agent, the customer or both, and what is wrong with it. */
import { runEpisode } from '../agent/episode.ts';
import { messagesOf } from '../agent/players.ts';
import { isProper } from '../agent/rules.ts';
import { serverAgents } from '../agent/server/agents.ts';
import { NO_TOKENS } from '../agent/server/server-turns.ts';
import { writesOf } from '../agent/trajectory.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { sha256 } from '../base/sha256.ts';
import { auditOf } from '../domains/customer-audit.ts';
import { languageOf } from '../domains/languages.ts';
import type { Environments } from '../environments/types.ts';
import { intentOf } from '../evaluation/trial-result.ts';
import type { AgentFormat, AgentServer } from '../records/agent-server.ts';
import { RULES } from '../records/grades.ts';
import { type Task, type ToolSchema, toolsOf } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { CustomerFaultKind, EndpointConfig, UserRequest } from '../records/user.ts';
import type { Attempt, RefusalStep, WrittenConversation } from '../records/written.ts';
import { ruleGrades } from '../synthesis/grade.ts';
import { type Hint, hinted, hintOf } from '../synthesis/hint.ts';
import { domainRules, type DomainRules } from '../synthesis/rules.ts';
import { untold } from '../synthesis/untold.ts';
import { costOf, usageOf } from '../users/account.ts';
import { type AgentModel } from '../users/agent-model.ts';
import type { UserSimulator } from '../users/types.ts';
import { demonstrators, LIMITS, type SynthesizeOptions } from './synthesize.ts';

/** The model that plays the agent. */
export interface Writer {
  model: AgentModel;
  server: Pick<AgentServer, 'model'>;
  format?: AgentFormat | undefined;
  temperature: number;
  /** Whether the model sees the calls that reach the goal. */
  hint: boolean;
}

export interface WritingStage {
  environments: Environments;
  users: UserSimulator;
  /** Absent: demonstrators play the agent. */
  writer?: Writer | undefined;
  /** The server whose model plays the customer. Absent: a script does. */
  customer?: EndpointConfig | undefined;
}

/** The faults of a customer that the audit finds without a language of the domain. The others need to understand the messages. */
const WITHOUT_LANGUAGE: readonly CustomerFaultKind[] = ['invented_fact', 'spoke_as_agent', 'empty_answer', 'cut_answer', 'never_ended'];

/** After a failed server, a conversation begins anew, with a world of its own, so often. */
const RETRIES = 2;

/** Plays a task. @param isOver whether the budget is spent with these requests */
export type PlayAttempt = (task: Task, seed: number, isOver: (spent: Attempt['spent']) => boolean) => Promise<Attempt>;

export async function attemptsOf(
  stage: WritingStage,
  { domain: name, level, styles, habits }: Pick<SynthesizeOptions, 'domain' | 'level' | 'styles' | 'habits'>,
): Promise<PlayAttempt> {
  const [domain, rules] = await Promise.all([stage.environments.domain(name, level), domainRules(name)]);
  const demonstrate = stage.writer
    ? null
    : await demonstrators(stage, name, level, { ...(styles && { styles }), ...(habits && { habits }) });
  const { writer, customer } = stage;
  return async (task, seed, isOver) => {
    const hint = writer?.hint ? hintOf(task) : undefined;
    const tools = toolsOf(task, domain);
    const [asked, heard]: [UserRequest[], UserRequest[]] = [[], []];
    for (let stream = 0; ; stream++) {
      let prompt = '';
      const model = writer && watched(writer.model, hint, (text) => (prompt ||= sha256(text)));
      const { trajectory, demonstrator } = demonstrate
        ? await demonstrate(task, seed)
        : {
            demonstrator: undefined,
            trajectory: await runEpisode({
              ...stage,
              task,
              domain,
              seed,
              stream,
              tokenizer: NO_TOKENS,
              limits: LIMITS,
              rules: rulesFor(domain, 'domain'),
              sampling: { temperature: writer!.temperature, top_p: 1, top_k: 0 },
              group: task.id,
              index: 0,
              agents: serverAgents(model!, writer!.format),
            }),
          };
      asked.push(...(trajectory.agentRequests ?? []));
      heard.push(...(trajectory.userRequests ?? []).map((one) => ({ ...one, ...costField(one, customer) })));
      const spent = { agent: usageOf(asked), customer: usageOf(heard) };
      if (trajectory.reward === null) {
        if (stream < RETRIES && !isOver(spent)) continue;
        return { conversation: null, refused: { step: 'failed', why: trajectory.error ?? trajectory.termination }, spent };
      }
      const conversation: WrittenConversation = {
        ...facts(trajectory, task, tools),
        ...(demonstrator && { demonstrator }),
        ...(writer && { writer: { model: writer.server.model, temperature: writer.temperature, hint: writer.hint, prompt } }),
        ...(customer && { customer: { model: customer.model, temperature: customer.temperature ?? 0 } }),
      };
      return { conversation, refused: refusalOf(trajectory, conversation, rules, hint), spent };
    }
  };
}

function costField(request: UserRequest, customer: EndpointConfig | undefined): { cost?: number } {
  const cost = customer && costOf(request, customer);
  return cost === undefined ? {} : { cost };
}

/** The model with the hint in its system message. `see` gets the system message. */
const watched = (model: AgentModel, hint: Hint | undefined, see: (system: string) => void): AgentModel => ({
  ...(model.callsInText && { callsInText: true as const }),
  ask: (question, ...others) => {
    const messages = hint ? hinted(question.messages, hint) : question.messages;
    see(String(messages[0]?.content ?? ''));
    return model.ask({ ...question, messages }, ...others);
  },
});

function facts(trajectory: Trajectory, task: Task, tools: ToolSchema[]): Omit<WrittenConversation, 'demonstrator' | 'writer' | 'customer'> {
  const { nodes, reward, violations } = trajectory;
  return {
    id: task.id,
    messages: messagesOf(nodes),
    tools,
    persona: task.scenario.persona,
    intent: intentOf(task),
    reward: reward!,
    writes: writesOf(trajectory),
    unconfirmed_writes: violations.filter(({ rule }) => rule === 'unconfirmed_write').length,
    violations,
  };
}

/** The first reason not to keep a conversation, apart from those that are the same as others. */
function refusalOf(
  trajectory: Trajectory,
  conversation: WrittenConversation,
  rules: DomainRules | null,
  hint: Hint | undefined,
): Attempt['refused'] {
  const { task, termination, reward, violations } = trajectory;
  const refused = (step: RefusalStep, why: string) => ({ step, why });
  if (!isProper(termination)) return refused('not_ended', termination);
  if (reward !== 1) return refused('reward', `the reward is ${reward}`);
  const { messages, tools } = conversation;
  const early = untold(messages, tools, task, hint?.prose);
  if (early) return refused('leak', `${early.why} (message ${early.message})`);
  const row = { id: task.id, domain: task.domain, messages, tools, reward, instruction: task.scenario.instruction };
  const grades = ruleGrades(row, rules);
  const { leak } = grades.rules;
  if (leak.ok === false) return refused('leak', leak.why ?? 'leak');
  // A brisk demonstrator writes without a yes on purpose.
  const isModel = conversation.writer !== undefined;
  if (isModel && violations[0]) return refused('audit', `${violations[0].rule}: ${violations[0].detail}`);
  const wrong = RULES.find((name) => (isModel || name !== 'audit') && grades.rules[name].ok === false);
  if (wrong) return refused('audit', `${wrong}: ${grades.rules[wrong].why ?? 'no reason'}`);
  if (grades.addressed) return refused('audit', `a text speaks to a grader: ${grades.addressed.text}`);
  // A script keeps to its role.
  const faults = conversation.customer ? auditOf(trajectory).faults : [];
  const isKnown = languageOf(task.domain) !== undefined;
  const fault = faults.find(({ kind }) => isKnown || WITHOUT_LANGUAGE.includes(kind));
  return fault ? refused('audit', `customer ${fault.kind}: ${fault.detail}`) : null;
}
