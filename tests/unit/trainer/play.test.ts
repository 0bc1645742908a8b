/** Continued conversations: the same tokens, world and ending as without the interruption. */
import type { LiveAct } from '../../../src/agent/live.ts';
import type { PlayRequest, Viewer } from '../../../src/trainer/messages.ts';
import type { SessionParts } from '../../../src/trainer/session-parts.ts';
import type { ModelFiles } from '../../../src/records/model.ts';
import 'fake-indexeddb/auto';
import { describe, expect, it, vi } from 'vitest';
import { renderConversation } from '../../../src/agent/chat-template.ts';
import { parseConversations } from '../../../src/agent/conversation.ts';
import { runEpisode } from '../../../src/agent/episode.ts';
import type { Act } from '../../../src/agent/acts.ts';
import { createExpert } from '../../../src/domains/retail/expert.ts';
import { nextParty, type Prefix, prefixAt, prefixWith, readPrefix, withoutLast } from '../../../src/agent/prefix.ts';
import { Rest } from '../../../src/agent/unscored.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { flatten, toMessages } from '../../../src/agent/trajectory.ts';
import type { Task } from '../../../src/records/task.ts';
import type { MessageNode, Trajectory } from '../../../src/records/trajectory.ts';
import type { Engine, Generation } from '../../../src/engine/types.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { EngineHost } from '../../../src/trainer/engine-host.ts';
import { Plays } from '../../../src/trainer/play.ts';
import { gpuHolder, takeGpu } from '../../../src/trainer/gpu-lock.ts';
import { GpuTurns } from '../../../src/trainer/gpu-turns.ts';
import { lockManager } from '../../support/locks.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { ResumedUsers } from '../../../src/users/resumed.ts';
import { LocalHosts } from '../../../src/users/local-hosts.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP, type UserSession, type UserSimulator } from '../../../src/users/types.ts';
import { stage, type Script } from '../../support/episodes.ts';
import { startChatServer } from '../../support/chat-server.ts';
import { loadTokenizer, nanoTokenizer } from '../../support/tokenizers.ts';
import { readModel } from '../../../src/trainer/node/session.ts';
import { createTelecomExpert } from '../../support/telecom-expert.ts';
import { GENERATED_DOMAINS, customerScripts } from '../../../src/domains/registry.ts';

const CALL =
  '<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id": "#W1234567", "reason": "no longer needed"}}\n</tool_call>';
const script: Script = {
  agent: [
    'Your email?<|im_end|>',
    '<tool_call>oops</tool_call>',
    'Order #W1234567 will be cancelled. Confirm?<|im_end|>',
    `One moment.\n${CALL}`,
    'Done. Anything else?<|im_end|>',
  ],
  user: ['Cancel order #W1234567.', 'mia@example.com', 'yes', STOP],
};

/** Results that must not depend on an interruption. */
const outcome = ({ seconds: _, nodes, ...rest }: Trajectory) => ({
  ...rest,
  nodes: nodes.map((node) => ({ ...node, ...(node.toolResult && { toolResult: { ...node.toolResult, ms: 0 } }) })),
});

/** Every point where a conversation can wait. */
const points = ({ nodes }: Trajectory) =>
  nodes.filter(({ role }) => role !== 'template').flatMap(({ id }) => (['agent', 'user'] as const).map((as) => ({ id, as })));

describe('an episode that continues a prefix', () => {
  it('ends with the same tokens, log-probs, counts and reward from every message', async () => {
    const original = await runEpisode(stage(script).options);
    expect(original.parseErrors).toBe(1);
    for (const { id, as } of points(original)) {
      const prefix = prefixAt(original, id, as);
      const spent = (role: MessageNode['role']) => prefix.nodes.filter((node) => node.role === role).length;
      const parts = stage({ ...script, agent: script.agent.slice(spent('assistant')), user: script.user.slice(spent('user')), prefix });
      const resumed = await runEpisode(parts.options);
      expect({ at: { id, as }, ...outcome(resumed) }).toEqual({ at: { id, as }, ...outcome(original) });
      // The model got the stored ids.
      expect(flatten(original).tokens.slice(0, parts.sampler.seen.length)).toEqual(parts.sampler.seen);
      expect(parts.environments.closed).toBe(1);
    }
  });

  it('keeps ids that no text gives: a prefix is never tokenised again', async () => {
    const { nodes } = prefixAt(await runEpisode(stage(script).options), 3, 'user');
    const strange = nodes.map((node) =>
      node.role === 'assistant'
        ? { ...node, tokens: [11, 12, 13, ...node.tokens], mask: [1, 1, 1, ...node.mask], logprobs: [-9, -9, -9, ...node.logprobs] }
        : node,
    );
    const parts = stage({ agent: ['Bye.<|im_end|>'], user: ['ok', STOP], prefix: { nodes: strange } });
    const resumed = await runEpisode(parts.options);
    expect(resumed.nodes[3]!.tokens.slice(0, 4)).toEqual([11, 12, 13, nodes[3]!.tokens[0]]);
    const before = strange.flatMap(({ tokens }) => tokens);
    expect(parts.sampler.seen.slice(0, before.length)).toEqual(before);
  });

  it('refuses a world with other tool results', async () => {
    const { nodes } = await runEpisode(stage(script).options);
    const changed = nodes.map((node) => (node.toolResult ? { ...node, text: 'another answer' } : node));
    expect(changed.some(({ toolResult }) => toolResult)).toBe(true);
    await expect(runEpisode(stage({ ...script, prefix: { nodes: changed } }).options)).rejects.toThrow(
      'tool call 1 (cancel_pending_order)',
    );
  });

  it('drops the annotations that the trainer made for the original', async () => {
    const original = await runEpisode(stage(script).options);
    for (const node of original.nodes) node.annotations = { advantage: node.tokens.map(() => 1) };
    expect(prefixAt(original, 5, 'agent').nodes.every(({ annotations }) => annotations === undefined)).toBe(true);
    expect(original.nodes[0]!.annotations).toBeDefined();
  });

  it('waits without a score if a party has nothing to say, and continues from there', async () => {
    const acts: Act[] = [{ say: 'Your email?' }];
    const { options, environments } = stage({ agent: [], user: ['Hi', 'mia@example.com'] });
    const agent = async () => {
      const act = acts.shift();
      if (!act) throw new Rest();
      return act;
    };
    const { sampler: _, ...people } = options;
    const rested = await runEpisode({ ...people, agent });
    expect(rested).toMatchObject({ termination: 'aborted', reward: null, turns: 1 });
    expect(rested.error).toBeUndefined();
    expect(nextParty(rested.nodes)).toBe('agent');
    expect(environments.closed).toBe(1);
    expect(rested.nodes.at(-1)).toMatchObject({ role: 'user', text: 'mia@example.com' });
    const said = rested.nodes.find(({ role }) => role === 'assistant')!;
    expect(said).toMatchObject({ content: 'Your email?', by: 'person' });
    expect(said.mask).not.toContain(1);
  });
});

describe('an episode that goes on from a token in the agent’s turn', () => {
  const turnsOf = ({ nodes }: Pick<Trajectory, 'nodes'>) => nodes.filter(({ role }) => role === 'assistant');
  const other = nanoTokenizer().encode('Your name?')[1]!;

  it('keeps the tokens before it, takes the chosen token, and samples the rest', async () => {
    const original = await runEpisode(stage(script).options);
    const [own] = turnsOf(original);
    const prefix = prefixWith(original, own!.id, { index: 1, id: other });
    const parts = stage({ agent: ['?<|im_end|>'], user: [STOP], prefix });
    const resumed = await runEpisode(parts.options);
    const [turn] = turnsOf(resumed);
    const rest = nanoTokenizer().encode('?<|im_end|>');
    expect(turn!.tokens).toEqual([own!.tokens[0], other, ...rest]);
    expect(turn!.text).toBe(nanoTokenizer().decode(turn!.tokens));
    expect(turn!.mask).toEqual([1, 0, ...rest.map(() => 1)]);
    expect(turn!.logprobs.slice(0, 2)).toEqual([own!.logprobs[0], null]);
    // The sampler had every token before its own ones, and the turn may not become longer than any other.
    const { tokens } = flatten(resumed);
    expect(parts.sampler.seen).toEqual(tokens.slice(0, parts.sampler.seen.length));
    const before = tokens.indexOf(other, flatten({ nodes: prefix.nodes as MessageNode[], leaf: prefix.nodes.length - 1 }).tokens.length);
    expect(turn!.logprobs.slice(2)).toEqual(rest.map((_, t) => -(before + 1 + t + 1) / 1000));
    expect(parts.sampler.params[0]!.maxNewTokens).toBe(200 - 2);
    expect(resumed.termination).toBe('user_stop');
  });

  it('samples nothing more if the chosen token ends the turn: the end of a message or of a tool call', async () => {
    const original = await runEpisode(stage(script).options);
    for (const [i, own] of turnsOf(original).entries()) {
      const index = own.tokens.length - 1;
      const prefix = prefixWith(original, own.id, { index, id: own.tokens[index]! });
      const user = script.user.slice(prefix.nodes.filter(({ role }) => role === 'user').length);
      const resumed = await runEpisode(stage({ ...script, agent: script.agent.slice(i + 1), user, prefix }).options);
      expect(flatten(resumed).tokens).toEqual(flatten(original).tokens);
      expect(turnsOf(resumed)[i]!.mask).toEqual(own.mask.map((m, t) => (t === index ? 0 : m)));
      expect([resumed.reward, resumed.toolCalls, resumed.parseErrors]).toEqual([original.reward, original.toolCalls, original.parseErrors]);
    }
  });

  it('ends with turn_length if the turn has no room left', async () => {
    const original = await runEpisode(stage(script).options);
    const prefix = prefixWith(original, turnsOf(original)[0]!.id, { index: 1, id: other });
    const { termination, nodes } = await runEpisode(
      stage({ agent: [], user: [], prefix, limits: { response_length_one_turn: 2 } }).options,
    );
    expect([termination, turnsOf({ nodes })[0]!.tokens.length]).toEqual(['turn_length', 2]);
  });

  it('is given up if a visitor plays the turn', async () => {
    const original = await runEpisode(stage(script).options);
    const prefix = prefixWith(original, turnsOf(original)[0]!.id, { index: 1, id: other });
    const resumed = await runEpisode({ ...stage({ agent: [], user: [STOP], prefix }).options, agent: async () => ({ say: 'Hello.' }) });
    expect(turnsOf(resumed)[0]).toMatchObject({ content: 'Hello.', by: 'person' });
  });

  it('is refused for a token that the agent did not sample, and where the agent does not act next', async () => {
    const original = await runEpisode(stage(script).options);
    const [own] = turnsOf(original);
    expect(() => prefixWith(original, 1, { index: 0, id: other })).toThrow('token 0 of message 1 cannot be replaced');
    expect(() => prefixWith(original, own!.id, { index: 99, id: other })).toThrow(`token 99 of message ${own!.id} cannot be replaced`);
    const { turn } = prefixWith(original, own!.id, { index: 1, id: other });
    const prefix = { ...prefixAt(original, own!.id, 'user'), turn };
    await expect(runEpisode(stage({ ...script, prefix }).options)).rejects.toThrow('after a message of assistant');
  });
});

describe('the next party', () => {
  it('follows from the last message', async () => {
    const { nodes } = await runEpisode(stage(script).options);
    const after = (id: number) => nextParty(nodes.slice(0, id + 1));
    expect(nodes.filter(({ role }) => role !== 'template').map(({ id, role }) => [role, after(id)])).toEqual([
      ['system', 'user'],
      ['user', 'agent'],
      ['assistant', 'user'],
      ['user', 'agent'],
      ['assistant', 'environment'],
      ['tool', 'agent'],
      ['assistant', 'user'],
      ['user', 'agent'],
      ['assistant', 'environment'],
      ['tool', 'agent'],
      ['assistant', 'user'],
      ['user', 'nobody'],
    ]);
  });

  it('a fork omits the message that is played again', async () => {
    const original = await runEpisode(stage(script).options);
    const roles = (prefix: Prefix) => prefix.nodes.map(({ role }) => role[0]).join('');
    const [, firstUser, , firstAgent] = original.nodes;
    expect(roles(prefixAt(original, firstAgent!.id, 'agent'))).toBe('su');
    expect(roles(prefixAt(original, firstUser!.id, 'user'))).toBe('s');
    expect(roles(prefixAt(original, firstUser!.id, 'agent'))).toBe('su');
    expect(roles(prefixAt(original, firstAgent!.id, 'user'))).toBe('sutat');
    // A call belongs to its result. The customer has no turn between them.
    const call = original.nodes.find(({ toolCall }) => toolCall)!;
    expect(prefixAt(original, call.id, 'user').nodes.at(-1)!.toolResult).toBeDefined();
    expect(roles(withoutLast(prefixAt(original, firstAgent!.id, 'user'), 'assistant')!)).toBe('su');
    expect(withoutLast({ nodes: original.nodes.slice(0, 1) }, 'user')).toBeNull();
    expect(() => prefixAt(original, 999, 'agent')).toThrow('node 999');
  });
});

describe('in a database', async () => {
  const environments = createEnvironments({ databaseName: 'play', domains: GENERATED_DOMAINS });
  const long = { max_turns: 60, max_model_len: 65536 };

  /** An expert plays the agent as a visitor does, without a model. Each episode adds one act and starts from the nodes of the last. */
  async function play(task: Task, prefix?: Prefix): Promise<Trajectory> {
    const domain = await environments.domain(task.domain, task.level);
    const expert = domain.name === 'telecom' ? createTelecomExpert(task) : createExpert(domain, 3);
    for (let from = prefix; ;) {
      const past = from ? readPrefix(from, task, rulesFor(domain, 'domain')).past : [];
      // The expert acts only when it is the agent's turn. It has not heard the customer's next answer yet.
      const acts =
        from && nextParty(from.nodes) === 'agent'
          ? [expert.act(toMessages({ nodes: [...from.nodes], leaf: from.nodes.length - 1 }).messages.slice(1))]
          : [];
      const { options } = stage({ agent: [], user: [], limits: long, task, domain, userSeed: 99, ...(from && { prefix: from }) });
      const { sampler: _, ...people } = options;
      const played = await runEpisode({
        ...people,
        environments,
        users: new ResumedUsers(new ScriptedUsers(customerScripts), past, 'replay'),
        agent: async () => {
          const act = acts.shift();
          if (!act) throw new Rest();
          return act;
        },
      });
      if (played.termination !== 'aborted') return played;
      from = { nodes: played.nodes, userCalls: played.userCalls };
    }
  }

  const places = [
    ['retail', 'nano', 3],
    ['retail', 'full', 1],
    ['telecom', 'nano', 2],
  ] as const;
  it.each(places)(
    '%s %s: from every message on the same customer, the same rows, the same verdict',
    async (domain, level, count) => {
      const tasks = await environments.tasks({ domain, level, split: 'train', seed: 5, count });
      for (const task of tasks) {
        const original = await play(task);
        expect([task.id, original.reward]).toEqual([task.id, 1]);
        for (const { id, as } of points(original).filter((_, i) => i % 3 === 0)) {
          const resumed = await play(task, prefixAt(original, id, as));
          expect({ at: { id, as }, ...outcome(resumed) }).toEqual({ at: { id, as }, ...outcome(original) });
        }
      }
    },
    120_000,
  );

  it('supervised fine-tuning reads a branch, and gets the same tokens', async () => {
    const [task] = await environments.tasks({ domain: 'retail', level: 'nano', split: 'train', seed: 5, count: 1 });
    const branch = await play(task!);
    const { tools } = await environments.domain('retail', 'nano');
    const [read] = parseConversations(`${JSON.stringify(toMessages(branch, tools))}\n`);
    expect(renderConversation(nanoTokenizer(), read!).tokens).toEqual(flatten(branch).tokens);
  });

  describe('requests', async () => {
    const [task] = await environments.tasks({ domain: 'retail', level: 'nano', split: 'train', seed: 5, count: 1 });
    const files: ModelFiles = await readModel('models/nano-retail');
    const host = { open: async () => Promise.reject(new Error('there is no GPU here')), engine: null } as unknown as EngineHost;
    const open = new Set<UserSession>();
    const users: UserSimulator = {
      session(...asked) {
        const session: UserSession = { ...new ScriptedUsers(customerScripts).session(...asked), close: () => void open.delete(session) };
        open.add(session);
        return session;
      },
    };
    const parts: ConstructorParameters<typeof Plays>[0] = {
      environments,
      users: async () => users,
      tabModels: new LocalHosts(),
      bundledModel: async () => files,
      database: () => Promise.reject(new Error('unused')) as never,
    };
    const plays = new Plays(parts, host, new GpuTurns());
    const request: PlayRequest = {
      task: task!,
      prefix: null,
      agent: null,
      model: { kind: 'model', name: 'nano-retail' },
      simulator: { mode: 'scripted' },
      limits: stage(script).options.limits,
      sampling: { temperature: 1, top_p: 1, top_k: 0 },
      seed: 1,
      userSeed: 2,
      stream: 0,
    };
    const play = async (more: Partial<PlayRequest>) => (await plays.play({ ...request, ...more }, () => {}))[0]!;

    it('a visitor plays the agent to reward 1 without a GPU', async () => {
      let played = await play({});
      expect(nextParty(played.nodes)).toBe('agent');
      for (const call of task!.actions) played = await play({ prefix: { nodes: played.nodes }, agent: { call } });
      for (let turns = 0; played.termination === 'aborted' && turns < 20; turns++) {
        played = await play({
          prefix: { nodes: played.nodes },
          agent: { say: `Done. Order ${String(task!.actions.at(-1)!.arguments.order_id ?? '')} has been cancelled. Anything else?` },
        });
      }
      expect(played.reward).toBe(1);
      expect(played.verdict!.changes).toEqual(played.verdict!.goal.map((row) => ({ ...row, call: expect.any(Number) as number })));
    });

    it('a visitor plays the customer, and the messages are marked as the visitor’s', async () => {
      const opened = await play({ user: { say: 'Hello there' } });
      expect(opened.nodes.at(-1)).toMatchObject({ role: 'user', text: 'Hello there', by: 'person' });
      const asked = await play({ prefix: { nodes: opened.nodes }, agent: { say: 'Your email?' }, user: null });
      expect([asked.termination, nextParty(asked.nodes)]).toEqual(['aborted', 'user']);
      const answered = await play({ prefix: { nodes: asked.nodes }, user: 'simulated' });
      expect(answered.nodes.at(-1)).toMatchObject({ role: 'user' });
      expect(answered.nodes.at(-1)!.by).toBeUndefined();
      const left = await play({ prefix: { nodes: answered.nodes }, agent: { say: 'Bye.' }, user: { say: STOP } });
      expect([left.termination, left.reward]).toEqual(['user_stop', 0]);
    });

    it('a conversation keeps the requests for the customer’s messages of all its moves', async () => {
      const server = await startChatServer([{ content: 'Cancel it.' }, { content: 'mia@example.com' }]);
      const asked = new Plays(
        { ...parts, users: async () => new EndpointUsers({ baseUrl: server.url, model: 'm' }) },
        host,
        new GpuTurns(),
      );
      const simulator = { mode: 'endpoint', baseUrl: server.url, model: 'm' } as const;
      const [opened] = await asked.play({ ...request, simulator }, () => {});
      expect(opened!.userRequests).toHaveLength(1);
      const { nodes, userRequests } = opened!;
      const [answered] = await asked.play(
        { ...request, simulator, prefix: { nodes, userRequests }, agent: { say: 'Your email?' } },
        () => {},
      );
      expect(answered!.nodes.at(-1)!.text).toContain('mia@example.com');
      expect(answered!.userRequests).toHaveLength(2);
      server.close();
    });

    it('a request that needs the model says so', async () => {
      await expect(play({ agent: 'model' })).rejects.toThrow('there is no GPU here');
      await expect(play({ agent: undefined, n: 8 })).rejects.toThrow('there is no GPU here');
      expect(Plays.needsModel({ agent: { say: 'x' } })).toBe(false);
    });

    it('the model needs the lock of the GPU; a person who plays the agent does not', async () => {
      const locks = lockManager();
      vi.stubGlobal('navigator', { locks });
      try {
        const otherTab = await takeGpu('train', locks);
        await expect(play({ agent: 'model' })).rejects.toThrow('uses the GPU');
        const score = { model: request.model, tokens: [1, 2], lossMask: [0, 1], temperature: 1, max_model_len: 64 };
        await expect(plays.rescore(score)).rejects.toThrow('uses the GPU');
        expect((await play({})).termination).toBe('aborted');
        await otherTab();
        let holder: string | null = null;
        vi.spyOn(host, 'open').mockImplementationOnce(async () => {
          holder = await gpuHolder(locks);
          throw new Error('there is no GPU here');
        });
        await expect(play({ agent: 'model' })).rejects.toThrow('there is no GPU here');
        expect(holder).toBe('play');
        expect(await gpuHolder(locks)).toBeNull();
      } finally {
        vi.unstubAllGlobals();
      }
    });

    it('one request runs at a time and can be stopped', async () => {
      const first = play({});
      await expect(play({})).rejects.toThrow('wait for it');
      await Promise.all([plays.stop(), expect(first).rejects.toThrow('stopped')]);
      expect((await play({})).termination).toBe('aborted');
      // The page does not wait for the stop when the visitor opens another conversation.
      const [left, , passed, , next] = [play({}), plays.stop(), play({}), plays.stop(), play({})];
      await Promise.all([left, passed].map((gone) => expect(gone).rejects.toThrow('stopped')));
      expect((await next).termination).toBe('aborted');
    });

    it('a viewer sees the words grow and then the next turn, and changes no token', async () => {
      const from = await play({ user: { say: 'Hello there' } });
      const prefix = { nodes: from.nodes };
      const tokenizer = loadTokenizer(files);
      const sampled = async (viewer?: Viewer) => {
        const texts = [CALL, 'May I have your email address?<|im_end|>'];
        /** Takes a moment for each token, and puts the token where the engine puts it. */
        const sampling: number[] = [];
        const sampler = {
          maxModelLen: 4096,
          open: async () => ({ id: 0, length: 0, sampling }),
          append() {},
          close() {},
          async generate(): Promise<Generation> {
            const tokens = tokenizer.encode(texts.shift()!);
            for (const token of tokens) {
              sampling.push(token);
              await new Promise((resolve) => setTimeout(resolve, 20));
            }
            sampling.length = 0;
            return { tokens, logprobs: tokens.map((_, t) => -t), finishReason: 'stop' };
          },
        };
        const engine = { sampler } as unknown as Engine;
        const withModel = new Plays(
          { environments, users: async () => users, bundledModel: async () => files } as unknown as SessionParts,
          { open: async () => engine, engine } as unknown as EngineHost,
          new GpuTurns(),
        );
        return (await withModel.play({ ...request, prefix, agent: undefined, user: null }, () => {}, viewer))[0]!;
      };
      const seen: LiveAct[][] = [];
      const watched = await sampled((acts) => void seen.push(acts));
      const shown = seen.length;
      expect(outcome(watched)).toEqual(outcome(await sampled()));
      // The page first gets growing words, and never messages of the prefix.
      const first = seen.filter((acts) => acts.length === 1 && acts[0]!.open).map(([act]) => act!.open!.markup.length);
      expect(first.length).toBeGreaterThan(1);
      expect(first).toEqual(first.toSorted((a, b) => a - b));
      expect(new Set(first).size).toBeGreaterThan(1);
      expect(seen.flat().every(({ by }) => by === 'agent')).toBe(true);
      const words = seen.filter((acts) => acts.length === 2).map((acts) => acts[1]!.text);
      expect(words.length).toBeGreaterThan(1);
      expect(words.every((text) => 'May I have your email address?'.startsWith(text))).toBe(true);
      // The timer ends with the episode.
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(seen).toHaveLength(shown);
    });

    it('tokens are scored by the requested weights, which stay loaded', async () => {
      const score = vi.fn(async (sequences: readonly { tokens: ArrayLike<number> }[]) => {
        const { length } = sequences[0]!.tokens;
        return {
          logprobs: [new Float32Array(length).fill(-1)],
          entropies: [new Float32Array(length).fill(0.5)],
          top: [{ k: 1, ids: new Uint32Array(length), logprobs: new Float32Array(length) }],
        };
      });
      const engine = { config: { vocab_size: 10 }, score } as unknown as Engine;
      const opened = vi.fn(async () => engine);
      const scoring = new Plays(
        { bundledModel: async () => files } as unknown as SessionParts,
        { open: opened, engine } as unknown as EngineHost,
        new GpuTurns(),
      );
      const request = {
        model: { kind: 'model', name: 'nano-retail' } as const,
        tokens: [1, 2, 3],
        lossMask: [0, 0, 1],
        temperature: 0.7,
        max_model_len: 64,
      };
      expect(await scoring.rescore(request)).toMatchObject({
        logprobs: new Float32Array([-1, -1, -1]),
        entropies: new Float32Array([0.5, 0.5, 0.5]),
        top: { k: 1 },
      });
      expect(score).toHaveBeenLastCalledWith([{ tokens: [1, 2, 3], lossMask: [0, 0, 1], weight: 1 }], {
        temperature: 0.7,
        topLogprobs: 5,
        signal: expect.any(AbortSignal) as AbortSignal,
      });
      await scoring.rescore({ ...request, temperature: 0 });
      expect(score).toHaveBeenLastCalledWith(expect.anything(), expect.objectContaining({ temperature: 1 }));
      expect(opened).toHaveBeenCalledTimes(1);
      await expect(scoring.rescore({ ...request, tokens: [1, 10] })).rejects.toThrow('tokens[1] is 10: expected a token id from 0 to 9');
    });

    it('closes the session of the customer', async () => {
      const opened = await play({});
      await play({ prefix: { nodes: opened.nodes }, agent: { say: 'Your email?' } });
      expect(open.size).toBe(0);
    });
  });
});
