/** @file The work of `mua shadow`: a candidate answers each recorded turn of conversations that another agent had. */
import { domainOf, transfersOf, usualLevel } from '../domains/registry.ts';
import { askAll, type ShadowOptions } from '../evaluation/shadow/ask.ts';
import { type ShadowSummary, summarize } from '../evaluation/shadow/summary.ts';
import { messagesOf, type RecordedConversation, recordedTurns } from '../evaluation/shadow/turns.ts';
import type { AgentServer } from '../records/agent-server.ts';
import type { ShadowHead, ShadowModelRef, ShadowTurn } from '../records/shadow.ts';
import type { ToolSchema } from '../records/task.ts';
import { agentsOf } from '../trainer/server-stage.ts';
import type { BenchmarkData } from './benchmark-data.ts';
import { type AuditedConversation, readConversations } from './conversations.ts';
import { CommandError, errorOfWork, UsageError } from './errors.ts';
import { onInterrupt } from './files.ts';
import { sha256 } from './out-folder.ts';
import type { ProgressBar } from './progress.ts';
import { ShadowOut } from './shadow-file.ts';
import { askModel, type ShadowModel } from './shadow-model.ts';

/** A model behind a server, without its key, or a model of this computer. */
export type Candidate = { server: AgentServer; agentKey: string | undefined } | (ShadowModel & { ref: ShadowModelRef });

export interface ShadowJob {
  /** The path of the conversations, and their text. */
  file: string;
  text: string;
  domain: string;
  level?: string | undefined;
  benchmark?: BenchmarkData | undefined;
  candidate: Candidate;
  temperature: number;
  seed: number;
  out: string | undefined;
  progress: ProgressBar;
}

export interface ShadowReport extends ShadowSummary {
  /** The turns that are not asked yet. */
  left: number;
  /** Why they are not asked yet. */
  stopped?: string;
  /** The conversations in whose world the candidate could not read, with the reason. Absent: no world was asked for. */
  without_world?: { id: string | number; why: string }[];
  out?: string;
  turns: ShadowTurn[];
}

/** How many turns are asked for at once. */
const AT_ONCE = 8;

/** @throws UsageError if the file or the server is wrong; CommandError if no turn was answered */
export async function shadowFile(job: ShadowJob): Promise<ShadowReport> {
  const { file, text, domain, benchmark, candidate, temperature, seed, progress } = job;
  const rules = await domainOf(domain)!.audit!();
  const conversations = readConversations(file, text, domain, (tool) => rules.writes.includes(tool));
  const total = conversations.reduce((sum, conversation) => sum + recordedTurns(conversation).length, 0);
  if (total === 0) throw new UsageError(`${file}: it has no message of the agent after one of the customer: expected one to compare with`);
  const { tools, snapshot, without } = await worldOf(job, conversations);
  const head: ShadowHead = {
    version: 1,
    domain,
    agent: 'server' in candidate ? candidate.server : candidate.ref,
    temperature,
    seed,
    conversations_sha256: sha256(text),
    ...(benchmark && { data: `${benchmark.rules}-${benchmark.domain}` }),
    turns: total,
  };
  const out = job.out === undefined ? null : await ShadowOut.open(job.out, head, conversations.map((one) => ({ id: one.id, messages: messagesOf(one) }))); // prettier-ignore
  const place = (turn: { conversation: string | number; message: number }) => JSON.stringify([turn.conversation, turn.message]);
  const turns = new Map((out?.turns ?? []).filter(({ kind }) => kind !== 'failed').map((turn) => [place(turn), turn]));
  if (turns.size > 0) progress.note(`mua: ${turns.size} of ${total} turns are answered in ${out!.path}: going on with the others`);
  const forget = onInterrupt(async () => {
    await out?.close();
    if (!out) return 'stopped: no answer is kept (with --out FILE each one is, and the same command goes on)';
    return out.isNew
      ? 'stopped before the first answer: nothing is kept'
      : `stopped: ${out.path} has the answers so far, and the same command goes on`;
  });
  try {
    progress.update(turns.size, total, 'turns');
    const options = {
      rules,
      tools,
      temperature,
      seed,
      isDone: ({ id }: RecordedConversation, message: number) => turns.has(place({ conversation: id, message })),
      async onTurn(turn: ShadowTurn) {
        await out?.add(turn);
        turns.set(place(turn), turn);
        if ('server' in candidate) progress.update(turns.size, total, 'turns');
      },
    };
    const stopped = await ask(candidate, conversations, options, { domain, snapshot, progress });
    return report([...turns.values()], { total, stopped, out: out?.path, conversations, without });
  } catch (error) {
    throw error instanceof UsageError || error instanceof CommandError ? error : errorOfWork(error as Error);
  } finally {
    forget();
    await out?.close();
    progress.clear();
  }
}

/** @returns why the work ended before the last turn; null if every turn was asked for */
async function ask(
  candidate: Candidate,
  conversations: readonly AuditedConversation[],
  options: Parameters<typeof askModel>[2],
  { domain, snapshot, progress }: Pick<ShadowJob, 'domain' | 'progress'> & { snapshot: ShadowOptions['snapshot'] },
): Promise<string | null> {
  if (!('server' in candidate)) {
    await askModel(conversations, candidate, options, progress);
    return null;
  }
  const { server, agentKey } = candidate;
  return askAll(conversations, {
    ...options,
    agents: agentsOf({ ...server, ...(agentKey !== undefined && { apiKey: agentKey }) }),
    atOnce: AT_ONCE,
    ...(snapshot && { snapshot }),
    isRead: ({ name }) => !options.rules.writes.includes(name) && !transfersOf(domain).includes(name),
  });
}

interface Ended {
  total: number;
  stopped: string | null;
  out: string | undefined;
  conversations: readonly AuditedConversation[];
  without: ShadowReport['without_world'];
}

function report(turns: ShadowTurn[], { total, stopped, out, conversations, without }: Ended): ShadowReport {
  const order = new Map(conversations.map(({ id }, i) => [id, i]));
  turns.sort((a, b) => order.get(a.conversation)! - order.get(b.conversation)! || a.message - b.message);
  const summary = summarize(turns);
  const failure = turns.find(({ kind }) => kind === 'failed')?.error ?? stopped;
  if (summary.scored === 0) throw new CommandError(`no turn was answered: ${failure}`);
  return {
    ...summary,
    left: total - turns.length,
    ...(stopped !== null && { stopped }),
    ...(without && { without_world: without }),
    ...(out !== undefined && { out }),
    turns,
  };
}

/** The tools of the domain, and the worlds of the conversations' tasks. @throws UsageError if tools are not known */
async function worldOf(
  { file, domain, level, benchmark, candidate, progress }: ShadowJob,
  conversations: readonly AuditedConversation[],
): Promise<{ tools: readonly ToolSchema[]; snapshot?: ShadowOptions['snapshot']; without?: { id: string | number; why: string }[] }> {
  const own = level ?? usualLevel(domain);
  const withoutTools = conversations.find(({ tools }) => !tools);
  if (!benchmark && own === undefined) {
    if (withoutTools)
      throw new UsageError(
        `${file}: conversation ${JSON.stringify(withoutTools.id)} has no tools: expected tools in each line, or --rules and --data, as ${domain} has no tools of its own`,
      );
    return { tools: [] };
  }
  progress.phase('opening the world');
  const { openStage } = await import('../serve/index.ts');
  const place = { domain, ...(own !== undefined && !benchmark && { level: own }), ...(benchmark && { benchmark }) };
  const stage = await openStage({ ...place, settings: {}, seed: 1, user: { mode: 'scripted' } }).catch((error: Error) => {
    throw ['InputError', 'ImportError', 'ConfigError'].includes(error.name) ? new UsageError(error.message) : error;
  });
  const tools = stage.stage.domain.tools;
  // A model makes one turn, so it reads nothing before.
  if (!('server' in candidate)) return { tools };
  // The ids of generated tasks name their domain. Other conversations have no world.
  const isKnown = ({ id, task = String(id) }: AuditedConversation) => benchmark !== undefined || task.startsWith(`${domain}/`);
  if (!conversations.some(isKnown)) return { tools };
  const without: { id: string | number; why: string }[] = [];
  const { snapshots } = await import('./shadow-world.ts');
  return {
    tools,
    snapshot: snapshots(stage, benchmark ? `${benchmark.domain}:` : '', ({ id }, why) => without.push({ id, why })),
    without,
  };
}
