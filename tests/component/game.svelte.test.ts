/** One played conversation: whose turn it is, what is stored of it, and the forks to which the visitor can go back. */
import { flushSync } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import { Library } from '../../src/app/library/library.ts';
import { Game, type Setting } from '../../src/app/play/game.svelte.ts';
import type { TrainerClient } from '../../src/app/clients/trainer-client.svelte.ts';
import type { MessageNode } from '../../src/records/trajectory.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import type { Task } from '../../src/records/task.ts';
import type { BranchRow } from '../../src/records/branch.ts';
import { RunDatabase } from '../../src/storage/database.ts';
import type { LiveAct } from '../../src/agent/live.ts';
import type { PlayRequest, Progress, Viewer } from '../../src/trainer/messages.ts';
import { PRESETS } from '../../src/training/presets.ts';
import { STOP } from '../../src/users/types.ts';

const TASK = { id: 'retail/nano/train/0/0', domain: 'retail', noop: false, actions: [] } as unknown as Task;

type Message = Pick<MessageNode, 'role' | 'text'> & Partial<MessageNode>;
const user = (text: string): Message => ({ role: 'user', text });
const agent = (text: string, more: Partial<MessageNode> = {}): Message => ({ role: 'assistant', text, content: text, ...more });
const byHand = (text: string): Message => agent(text, { by: 'person' });

/** The system message and these messages. Equal texts have equal tokens. */
function trajectory(messages: Message[], more: Partial<Trajectory> = {}): Trajectory {
  const nodes = [{ role: 'system', text: 'Serve the customer.' } as const, ...messages].map((message, id): MessageNode => {
    const tokens = [...new TextEncoder().encode(message.text)];
    return {
      ...message,
      id,
      parent: id === 0 ? null : id - 1,
      tokens,
      mask: tokens.map(() => Number(message.role === 'assistant' && !message.by)),
      logprobs: tokens.map(() => null),
    };
  });
  return {
    id: 't',
    task: TASK,
    group: '1-0',
    index: 0,
    seed: 7,
    nodes,
    leaf: nodes.length - 1,
    termination: 'aborted',
    turns: messages.length,
    reward: null,
    verdict: null,
    violations: [],
    toolCalls: {},
    parseErrors: 0,
    seconds: { generate: 0, tool: 0, user: 0 },
    ...more,
  };
}

/** A stored conversation that ended: message 3 is the customer's answer, message 4 the agent's last. */
const STORED = trajectory([user('Cancel #W1.'), agent('Your email?'), user('mia@example.com'), agent('Done.'), user(STOP)], {
  termination: 'user_stop',
  reward: 0,
});
const startAt = (node: number): Partial<Setting> => ({
  start: { place: 'run', id: 't', node, trajectory: STORED },
  parent: STORED,
  origin: 'run/t',
});

/** What the trainer plays: the given messages after the prefix of the request. */
const continued = ({ prefix }: PlayRequest, messages: Message[], more: Partial<Trajectory> = {}): Trajectory =>
  trajectory([...(prefix?.nodes.slice(1) ?? []), ...messages], more);

let database: RunDatabase;
afterEach(() => database.close());

function open(setting: Partial<Setting> = {}) {
  database = new RunDatabase(`game ${expect.getState().currentTestName}`);
  /** Answers of the trainer in turn: messages to add, or a function of the request. */
  const answers: (Message[] | ((request: PlayRequest, viewer: Viewer) => Promise<Trajectory> | Trajectory))[] = [];
  const play = vi.fn(async (request: PlayRequest, progress: Progress = () => {}, viewer: Viewer = () => {}): Promise<Trajectory[]> => {
    const answer = answers.shift();
    if (!answer) throw new Error('the trainer has no answer left');
    const n = request.n ?? 1;
    const played: Trajectory[] = [];
    for (let i = 0; i < n; i++) {
      played.push(await (typeof answer === 'function' ? answer(request, viewer) : continued(request, answer)));
      progress(i + 1, n, 'rollouts');
      flushSync();
    }
    return played;
  });
  const stopPlay = vi.fn(async () => {});
  const game = new Game(
    {
      task: TASK,
      tools: [],
      userTools: false,
      config: PRESETS.nano!.config,
      start: null,
      token: null,
      origin: `task:${TASK.id}`,
      parent: null,
      ...setting,
    },
    { play, stopPlay } as unknown as TrainerClient,
    new Library(database),
    () => ({
      model: { kind: 'bundled', name: 'nano-retail' } as unknown as PlayRequest['model'],
      modelName: 'nano',
      simulator: { mode: 'scripted' },
    }),
  );
  return { game, play, stopPlay, answers, branches: () => database.branches.toArray() };
}
const texts = (game: Game) => game.shown.nodes.slice(1).map(({ text }) => text);

test('the visitor as the customer opens the conversation; nothing is played before', async () => {
  const { game, play, answers } = open();
  await game.begin('user');
  expect(play).not.toHaveBeenCalled();
  expect([game.next, game.canUndo, game.canRegenerate, game.untouched]).toEqual(['user', false, false, true]);
  answers.push([user('Hello.'), agent('Hi, what can I do?')]);
  await game.say('Hello.', Promise.resolve(true));
  expect(play.mock.lastCall![0]).toMatchObject({ prefix: null, user: { say: 'Hello.' }, agent: undefined });
  expect([game.next, game.canUndo, game.canRegenerate, game.untouched]).toEqual(['user', true, true, false]);
});

test('another token of the agent: the model goes on from it, and regenerating goes on from it again', async () => {
  // Message 2 is “Your email?”.
  const { game, play, answers } = open({ ...startAt(2), token: { index: 1, id: 88, words: 'YX' } });
  await game.begin('user');
  expect(play).not.toHaveBeenCalled();
  expect([game.next, game.begun, texts(game)]).toEqual(['agent', 'YX', ['Cancel #W1.']]);
  const turn = { tokens: ['Y'.charCodeAt(0), 88], mask: [1, 0], logprobs: [null, null] };
  answers.push([agent('YX and so on.')], [agent('YX or so.')]);
  await game.letAgentGoOn();
  expect(play.mock.lastCall![0].prefix!.turn).toEqual(turn);
  expect([game.next, game.begun]).toEqual(['user', '']);
  await game.regenerate();
  expect(play.mock.lastCall![0].prefix!.turn).toEqual(turn);
  expect(texts(game)).toEqual(['Cancel #W1.', 'YX or so.']);
  await game.undo();
  expect([game.next, game.begun]).toEqual(['user', '']);
});

test('without a model the agent’s turn rests for the visitor', async () => {
  const { game, play, answers } = open();
  await game.begin('user');
  answers.push([user('Hello.')]);
  await game.say('Hello.', Promise.resolve(false));
  expect(play.mock.lastCall![0]).toMatchObject({ agent: null });
  expect(game.next).toBe('agent');
});

test('the visitor as the agent waits for the customer, and one branch grows with the conversation', async () => {
  const { game, play, answers, branches } = open();
  answers.push([user('Cancel #W1.')]);
  await game.begin('agent');
  expect(play.mock.lastCall![0]).toMatchObject({ agent: null, user: undefined });
  // A branch with only the customer's opening is not stored.
  expect(await branches()).toEqual([]);
  answers.push([byHand('Your email?'), user('mia@example.com')]);
  await game.act({ say: 'Your email?' });
  const [first] = await branches();
  expect(first).toMatchObject({ id: game.branch, origin: `task:${TASK.id}`, shared: 0, batch: '', model: 'nano' });
  answers.push((request) => continued(request, [byHand('Done.'), user(STOP)], { termination: 'user_stop', reward: 1 }));
  await game.act({ say: 'Done.' });
  expect([game.ended, game.next]).toEqual([true, 'nobody']);
  const [grown, ...others] = await branches();
  expect(others).toEqual([]);
  expect(grown).toMatchObject({ id: first!.id, createdAt: first!.createdAt, trajectory: { reward: 1 } });
});

test('busy says what is under way, and a second move meanwhile does nothing', async () => {
  const { game, play, answers } = open();
  await game.begin('user');
  const seen: string[] = [];
  const stop = $effect.root(() => {
    $effect(() => void seen.push(game.busy));
  });
  flushSync();
  let answer = (_: Trajectory) => {};
  answers.push(() => new Promise((resolve) => (answer = resolve)));
  const moving = game.say('Hello.', Promise.resolve(true));
  flushSync();
  await vi.waitFor(() => expect(play).toHaveBeenCalledOnce());
  await game.say('Hello again.', Promise.resolve(true));
  expect(play).toHaveBeenCalledOnce();
  answer(trajectory([user('Hello.'), agent('Hi.')]));
  await moving;
  flushSync();
  expect(seen).toEqual(['', 'Waiting for the agent…', '']);
  stop();
});

test('an error is told; a stopped turn is no error; a failed customer is told with what was said', async () => {
  const { game, answers } = open();
  await game.begin('user');
  answers.push(() => Promise.reject(new Error('out of memory')));
  await game.say('Hello.', Promise.resolve(true));
  expect([game.problem, game.busy, game.untouched]).toEqual(['out of memory', '', true]);
  answers.push(() => Promise.reject(new Error('stopped')));
  await game.say('Hello.', Promise.resolve(true));
  expect(game.problem).toBe('');
  answers.push((request) => continued(request, [user('Hello.')], { termination: 'user_error', error: 'timeout' }));
  await game.say('Hello.', Promise.resolve(true));
  expect(game.problem).toBe('The simulated customer failed: timeout');
  expect(texts(game)).toEqual(['Hello.']);
});

test('at a fork: the messages before it, and the way to each message of the original', async () => {
  const { game, play } = open(startAt(2));
  await game.begin('agent');
  // Message 2 is the agent's, so the game waits for another message of the agent.
  expect(play).not.toHaveBeenCalled();
  expect(texts(game)).toEqual(['Cancel #W1.']);
  expect([game.next, game.ended, game.sharedWith(STORED)]).toEqual(['agent', false, 2]);
  expect([...game.forks]).toEqual([
    [0, { place: 'run', id: 't', node: 0 }],
    [1, { place: 'run', id: 't', node: 1 }],
  ]);
});

test('at the last message: the whole conversation with its end, nothing played, nothing stored', async () => {
  const { game, play, branches } = open(startAt(STORED.leaf));
  await game.begin('agent');
  expect(play).not.toHaveBeenCalled();
  expect([game.ended, game.next, game.shown.verdict]).toEqual([true, 'nobody', null]);
  expect(game.shown.nodes).toHaveLength(6);
  // After the stop word the agent has nothing to say.
  expect(game.forks.has(5)).toBe(false);
  expect(await branches()).toEqual([]);
});

test('what was played since the fork is gone back to in place', async () => {
  const { game, answers, branches } = open(startAt(1));
  await game.begin('agent');
  answers.push([byHand('Which order?'), user('#W1.')]);
  await game.act({ say: 'Which order?' });
  expect(game.forks.get(1)).toMatchObject({ place: 'branches', id: game.branch });
  expect((await branches())[0]).toMatchObject({ shared: 2, origin: 'run/t' });
  await game.undo();
  expect(texts(game)).toEqual(['Cancel #W1.']);
  expect([game.next, game.result, game.canUndo]).toEqual(['agent', null, false]);
});

test('going back after the end begins another branch', async () => {
  const { game, answers, branches } = open(startAt(1));
  await game.begin('agent');
  answers.push((request) => continued(request, [byHand('Bye.'), user(STOP)], { termination: 'user_stop', reward: 0 }));
  await game.act({ say: 'Bye.' });
  await game.undo();
  expect([game.branch, game.ended]).toEqual(['', false]);
  answers.push([byHand('Your email?'), user('mia@example.com')]);
  await game.act({ say: 'Your email?' });
  expect((await branches()).map(({ trajectory: { termination } }) => termination).sort()).toEqual(['aborted', 'user_stop']);
});

test('regenerate asks for the same turn on another stream', async () => {
  const { game, play, answers } = open();
  await game.begin('user');
  answers.push([user('Hello.'), agent('Hi.')], [agent('Good morning.')]);
  await game.say('Hello.', Promise.resolve(true));
  await game.regenerate();
  const [first, second] = play.mock.calls.map(([request]) => request);
  expect(second).toMatchObject({ agent: undefined, user: null });
  expect(second!.prefix!.nodes.map(({ text }) => text)).toEqual(['Serve the customer.', 'Hello.']);
  expect(second!.stream).not.toBe(first!.stream);
  expect(texts(game)).toEqual(['Hello.', 'Good morning.']);
});

test('rollouts from here are one batch of rows, and the conversation stays where it is', async () => {
  const { game, play, answers, branches } = open(startAt(3));
  await game.begin('agent');
  const done: unknown[] = [];
  const stop = $effect.root(() => {
    $effect(() => void done.push(game.progress?.done ?? null));
  });
  flushSync();
  answers.push((request) => continued(request, [agent('Done.'), user(STOP)], { termination: 'user_stop', reward: 1 }));
  await game.rollOut(3);
  flushSync();
  stop();
  expect(play.mock.lastCall![0]).toMatchObject({ n: 3 });
  expect(done).toEqual([null, 0, 1, 2, 3, null]);
  const rows = await branches();
  expect(rows).toHaveLength(3);
  expect(new Set(rows.map(({ batch }) => batch)).size).toBe(1);
  expect(rows.every(({ batch, shared }) => batch !== '' && shared === 4)).toBe(true);
  expect(game.rolled).toHaveLength(3);
  expect([game.branch, texts(game).at(-1)]).toEqual(['', 'mia@example.com']);
});

test('a branch in the training set grows there too, and can be taken out', async () => {
  const { game, answers, branches } = open(startAt(1));
  await game.begin('agent');
  answers.push([byHand('Which order?'), user('#W1.')]);
  await game.act({ say: 'Which order?' });
  await game.train(await branches(), true);
  const words = async () => (await branches())[0]!.conversation?.messages.map(({ content }) => content);
  expect(await words()).toEqual(['Serve the customer.', 'Cancel #W1.', 'Which order?', '#W1.']);
  answers.push([byHand('Done.'), user('Thanks.')]);
  await game.act({ say: 'Done.' });
  expect((await words())!.slice(-2)).toEqual(['Done.', 'Thanks.']);
  await game.train(await branches(), false);
  expect(await words()).toBeUndefined();
});

test('deleting the branch being played returns to the fork', async () => {
  const { game, answers, branches } = open(startAt(1));
  await game.begin('agent');
  answers.push([byHand('Which order?'), user('#W1.')]);
  await game.act({ say: 'Which order?' });
  expect(await game.remove(await branches())).toBeUndefined();
  expect(await branches()).toEqual([]);
  expect([game.branch, game.untouched, texts(game)]).toEqual(['', true, ['Cancel #W1.']]);
});

test('deleting the branch that the game began with says where to go on', async () => {
  const first = { id: 'b', trajectory: STORED } as unknown as BranchRow;
  const { game } = open({ ...startAt(STORED.leaf), start: { place: 'branches', id: 'b', node: STORED.leaf, trajectory: STORED } });
  await game.begin('agent');
  expect(game.branch).toBe('b');
  expect(await game.remove([first])).toEqual({ from: null });
});

test('a closed game stops its turn, and the late answer changes nothing', async () => {
  const { game, play, stopPlay, answers, branches } = open();
  await game.begin('user');
  let answer = (_: Trajectory) => {};
  answers.push(() => new Promise((resolve) => (answer = resolve)));
  const moving = game.say('Hello.', Promise.resolve(true));
  await vi.waitFor(() => expect(play).toHaveBeenCalledOnce());
  game.close();
  expect(stopPlay).toHaveBeenCalledOnce();
  answer(trajectory([user('Hello.'), agent('Hi.')]));
  await moving;
  expect([game.prefix, await branches()]).toEqual([null, []]);
});

test('a visitor who speaks before the GPU is found is answered; a game that is closed before asks nobody', async () => {
  for (const closed of [false, true]) {
    const { game, play, answers } = open();
    await game.begin('user');
    answers.push((request) => continued(request, [user('Hello.'), agent('Hi.')]));
    let found = (_: boolean) => {};
    const moving = game.say('Hello.', new Promise((resolve) => (found = resolve)));
    expect([game.busy, game.saying]).toEqual(['Waiting for the agent…', 'Hello.']);
    if (closed) game.close();
    found(true);
    await moving;
    expect(play).toHaveBeenCalledTimes(closed ? 0 : 1);
    if (!closed) expect(play.mock.calls[0]![0]).toMatchObject({ user: { say: 'Hello.' }, agent: undefined });
  }
});

test('what the visitor says is there at once, and is part of the conversation when the answer comes', async () => {
  const { game, answers } = open();
  await game.begin('user');
  let seen = '';
  answers.push((request) => {
    seen = game.saying;
    return continued(request, [user('Hello.'), agent('Hi.')]);
  });
  await game.say('Hello.', Promise.resolve(true));
  expect([seen, game.saying]).toEqual(['Hello.', '']);
  expect(texts(game)).toEqual(['Hello.', 'Hi.']);
});

const act = (id: string, by: LiveAct['by'], text: string, more: Partial<LiveAct> = {}): LiveAct => ({ id, by, text, ...more });

test('the words of the turns under way are shown after the visitor’s own; none is left after the turn, a stop or a failure', async () => {
  const { game, answers, branches } = open();
  await game.begin('user');
  let late: Viewer = () => {};
  answers.push((request, viewer) => {
    late = viewer;
    viewer([act('1', 'customer', 'Hello.')]);
    expect([game.saying, game.acts]).toEqual(['Hello.', []]);
    viewer([act('1', 'customer', 'Hello.'), act('2', 'agent', 'Hi, wh', { open: { markup: '' } })]);
    expect(game.acts.map(({ text }) => text)).toEqual(['Hi, wh']);
    expect(texts(game)).toEqual([]);
    return continued(request, [user('Hello.'), agent('Hi, what can I do?')]);
  });
  await game.say('Hello.', Promise.resolve(true));
  expect([game.acts, texts(game)]).toEqual([[], ['Hello.', 'Hi, what can I do?']]);
  late([act('2', 'agent', 'too late')]);
  expect(game.acts).toEqual([]);
  for (const reason of ['stopped', 'out of memory']) {
    answers.push((_, viewer) => {
      viewer([act('3', 'customer', 'Simulated.'), act('4', 'agent', 'I wi')]);
      expect(game.acts).toHaveLength(2);
      throw new Error(reason);
    });
    await game.letUserAnswer(Promise.resolve(true));
    expect([game.acts, game.busy]).toEqual([[], '']);
  }
  expect(await branches()).toHaveLength(1);
});

test('a closed game shows no more words', async () => {
  const { game, play, answers } = open();
  await game.begin('user');
  let show: Viewer = () => {};
  let answer = (_: Trajectory) => {};
  answers.push((_, viewer) => ((show = viewer), new Promise((resolve) => (answer = resolve))));
  const moving = game.say('Hello.', Promise.resolve(true));
  await vi.waitFor(() => expect(play).toHaveBeenCalledOnce());
  game.close();
  show([act('2', 'agent', 'Hi')]);
  expect(game.acts).toEqual([]);
  answer(trajectory([user('Hello.'), agent('Hi.')]));
  await moving;
});

test('models that answer are counted while they do; after a stop the earlier answers stay', async () => {
  const { game, answers } = open();
  await game.begin('user');
  answers.push([user('Hello.'), agent('Hi.')]);
  await game.say('Hello.', Promise.resolve(true));
  const models = ['one', 'two'].map((name) => ({ name, ref: { kind: 'model', name } as const }));
  const counted: (number | undefined)[] = [];
  const answered = (words: string) => (request: PlayRequest) => {
    counted.push(game.progress?.done);
    return continued(request, [agent(words)]);
  };
  answers.push(answered('From one.'), answered('Two says.'));
  await game.compare(models);
  expect(counted.slice(0, 2)).toEqual([undefined, 1]);
  expect([counted.length, counted.at(-1), game.progress]).toEqual([32, 31, null]);
  const before = game.compared;
  answers.push(answered('Again.'), () => Promise.reject(new Error('stopped')));
  await game.compare(models);
  expect(game.compared).toBe(before);
});

test('two models answer the last message of the customer; nothing is stored, and the next move clears the answers', async () => {
  const { game, play, answers, branches } = open();
  await game.begin('user');
  expect(game.canCompare).toBe(false);
  answers.push([user('Hello.'), agent('Hi.')]);
  await game.say('Hello.', Promise.resolve(true));
  const [before] = await branches();
  answers.push([agent('From one.')], [agent('From two.')]);
  const models = ['one', 'two'].map((name) => ({ name, ref: { kind: 'model', name } as const }));
  await game.compare(models);
  expect(play.mock.calls.slice(-2).map(([{ model, user: customer, prefix }]) => [model, customer, prefix!.nodes.at(-1)!.text])).toEqual(
    models.map(({ ref }) => [ref, null, 'Hello.']),
  );
  expect(play.mock.lastCall![0].n).toBe(16);
  expect(game.compared!.map(({ name, samples }) => [name, samples.map((nodes) => nodes.map(({ text }) => text).join())])).toEqual([
    ['one', Array.from({ length: 16 }, () => 'From one.')],
    ['two', Array.from({ length: 16 }, () => 'From two.')],
  ]);
  expect(texts(game)).toEqual(['Hello.', 'Hi.']);
  expect(await branches()).toEqual([before]);
  answers.push([user('Bye.'), agent('Bye.')]);
  await game.say('Bye.', Promise.resolve(true));
  expect(game.compared).toBeNull();
});
