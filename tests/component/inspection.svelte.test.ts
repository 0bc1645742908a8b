/** The inspector's state: what the address says about a conversation, and what commands write into the address. */
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runCommand, runKey } from '../../src/app/conversation/tokens/commands.ts';
import { Inspection } from '../../src/app/conversation/tokens/inspection.svelte.ts';
import type { Subject } from '../../src/app/conversation/tokens/subject.ts';
import type { Second } from '../../src/app/conversation/tokens/channels.ts';
import type { Command } from '../../src/app/conversation/tokens/navigation.ts';
import { Vocabulary } from '../../src/app/conversation/tokens/vocabulary.ts';
import { Router } from '../../src/app/routes/router.svelte.ts';
import type { MessageNode, Trajectory } from '../../src/records/trajectory.ts';

const WORDS = ['<s>', 'Hello', 'Hi', 'you', 'look', 'done'];
const vocabulary = new Vocabulary({ model: { vocab: Object.fromEntries(WORDS.map((word, id) => [word, id])) } });

const message = (id: number, role: MessageNode['role'], words: string[], more: Partial<MessageNode> = {}): MessageNode => {
  const sampled = role === 'assistant';
  return {
    id,
    parent: id === 0 ? null : id - 1,
    role,
    text: words.join(''),
    tokens: words.map((word) => WORDS.indexOf(word)),
    mask: words.map(() => Number(sampled)),
    logprobs: words.map((_, t) => (sampled ? -(t + 1) : null)),
    ...more,
  };
};
const result = (index: number, changes: number) => ({ name: 'look', error: false, index, changes: Array(changes).fill({}), ms: 1 });

/** Tokens 0–1 customer, 2 template, 3–5 agent, 6 result that read, 7 agent, 8 result that wrote. */
const NODES = [
  message(0, 'user', ['Hello', 'you']),
  message(1, 'template', ['<s>']),
  message(2, 'assistant', ['Hi', 'you', 'look'], { annotations: { ratio: [1, 1.5, 0.5] } }),
  message(3, 'tool', ['look'], { toolResult: result(0, 0) as unknown as MessageNode['toolResult'] }),
  message(4, 'assistant', ['done']),
  message(5, 'tool', ['done'], { toolResult: result(1, 2) as unknown as MessageNode['toolResult'] }),
];
const trajectory = (logprob?: number) =>
  ({
    id: 'mine',
    task: { id: 'retail/nano/train/0/0', domain: 'retail' },
    nodes: logprob === undefined ? NODES : NODES.map((node) => ({ ...node, logprobs: node.mask.map((m) => (m ? logprob : null)) })),
    leaf: 5,
    termination: 'max_turns',
    violations: [{ rule: 'unconfirmed_write', call: 1, detail: '' }],
  }) as unknown as Trajectory;

const ADDRESS = '#/runs/run/rollouts/mine';
const query = () => Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? ''));
let stop = () => {};
beforeEach(() => {
  location.hash = ADDRESS;
});
afterEach(() => stop());

function open(search = '', more: Partial<Subject> = {}) {
  history.replaceState(null, '', search ? `${ADDRESS}?${search}` : ADDRESS);
  const subject: Subject = {
    route: { name: 'rollout', run: 'run', id: 'mine' },
    place: 'run',
    facts: { reward: 1, termination: 'max_turns', turns: 2, tokens: 9, intent: 'cancel', advantage: 0.5 },
    trajectory: trajectory(),
    model: 'nano',
    config: {},
    vocabulary,
    read: () => Promise.resolve(undefined),
    sibling: () => undefined,
    ...more,
  };
  let inspection!: Inspection;
  let second = $state.raw<Second | null>(null);
  stop = $effect.root(() => {
    inspection = new Inspection(
      () => subject,
      new Router(),
      () => second,
    );
  });
  flushSync();
  return { inspection, subject, setSecond: (to: Second | null) => (second = to) };
}
const run = (inspection: Inspection, ...commands: Command[]) => commands.map((command) => runCommand(inspection, command));

describe('selection', () => {
  test('an address selects a token, and with it the token’s message', () => {
    const { inspection } = open('tok=4');
    expect([inspection.position, inspection.selected?.node.id, inspection.message, inspection.chosen?.node.id]).toEqual([4, 2, 2, 2]);
    expect(inspection.messageProps(NODES[2]!).current).toBe(true);
  });

  test('each message of the agent names its turn, other messages do not', () => {
    const { inspection } = open();
    expect(NODES.map((node) => inspection.messageProps(node).turn)).toEqual([undefined, undefined, 1, undefined, 2, undefined]);
    expect(inspection.turns.size).toBe(inspection.subject.facts.turns);
  });

  test('messages have consecutive numbers; those of the template have no number', () => {
    const { inspection } = open();
    expect(NODES.map((node) => inspection.messageProps(node).number)).toEqual([1, undefined, 2, 3, 4, 5]);
    expect([0, 1, 2].map(inspection.nameOf)).toEqual(['message 1', 'the template', 'message 2']);
    const nodes = [message(0, 'system', ['Hello']), ...NODES.slice(1)];
    stop();
    expect(nodes.map(({ id }) => open('', { trajectory: { ...trajectory(), nodes } }).inspection.numbers.get(id))[2]).toBe(1);
  });

  test('a position after the end selects no message', () => {
    const { inspection } = open('tok=9');
    expect([inspection.selected, inspection.message]).toEqual([undefined, null]);
  });

  test('messages without the template’s are stepped through, and the rendered view has them all', () => {
    const { inspection } = open();
    run(inspection, 'next-message', 'next-message');
    expect(query()).toEqual({ turn: '2' });
    run(inspection, 'previous-message', 'previous-message');
    expect(query()).toEqual({ turn: '0' });
    run(inspection, 'view', 'next-message');
    expect(query()).toEqual({ view: 'rendered', turn: '1' });
  });

  test('tokens are stepped through from the first sampled token; a selected token replaces a selected message', () => {
    const { inspection } = open('turn=0');
    run(inspection, 'next-token');
    expect(query()).toEqual({ tok: '0' });
    inspection.selectToken(null);
    run(inspection, 'next-token', 'next-token');
    expect(query()).toEqual({ tok: '4' });
    run(inspection, 'next-message');
    expect(query()).toEqual({ turn: '3' });
  });

  test('the next result that wrote to the database is found from any message', () => {
    const { inspection } = open('turn=3');
    run(inspection, 'next-write');
    expect(query()).toEqual({ turn: '5' });
    run(inspection, 'next-write');
    expect(query()).toEqual({ turn: '5' });
  });

  test('highlights are stepped through in the order of the conversation, and a selected highlight is in the address', () => {
    const { inspection } = open();
    // The pushes of an advantage of 0.5: tokens 4 and 5, and token 3 or 7, the first of equals. The write is at its call, token 7.
    expect([...inspection.highlightsAt.keys()]).toEqual([3, 4, 5, 7]);
    run(inspection, 'next-highlight');
    expect(query()).toEqual({ tok: '3' });
    run(inspection, 'previous-highlight');
    expect(query()).toEqual({ tok: '7' });
    expect(inspection.highlightsAt.get(7)!.map(({ kind }) => kind)).toEqual(['write', 'violation']);
    run(inspection, 'next-highlight', 'next-token', 'next-highlight');
    expect(query()).toEqual({ tok: '5' });
  });

  test('without highlights the keys do nothing', () => {
    const { inspection } = open('', { trajectory: { ...trajectory(), nodes: [NODES[0]!], leaf: 0, violations: [] } as Trajectory });
    expect(run(inspection, 'next-highlight', 'previous-highlight')).toEqual([false, false]);
    expect(query()).toEqual({});
  });

  test('another token at a sampled position has an address in Play, a token that was not sampled has not', () => {
    const { inspection } = open('tok=4');
    expect(decodeURIComponent(inspection.alternativeLink(5)!)).toBe('#/play/retail/retail/nano/train/0/0?from=run/mine@2&token=1:5');
    inspection.selectToken(0);
    expect(inspection.alternativeLink(5)).toBeNull();
  });

  test('close takes away the token, then the database, then the message', () => {
    const { inspection } = open('tok=4&call=1');
    run(inspection, 'close');
    expect(query()).toEqual({ call: '1' });
    run(inspection, 'close');
    inspection.selectMessage(2);
    run(inspection, 'close');
    expect(query()).toEqual({});
  });

  test('close gives the focus to the strip only if the focus was in the panel', () => {
    const { inspection } = open('tok=4');
    const [strip, panel, other] = ['strip', 'panel', 'other'].map(() => document.body.appendChild(document.createElement('button')));
    Object.assign(inspection, { strip, panel });
    other!.focus();
    inspection.close();
    expect(document.activeElement).toBe(other);
    panel!.focus();
    inspection.close();
    expect(document.activeElement).toBe(strip);
    for (const element of [strip, panel, other]) element!.remove();
  });
});

describe('colours', () => {
  test('channels follow each other, and those of other weights come with the weights', () => {
    const { inspection } = open('ch=delta_p');
    run(inspection, 'next-channel');
    expect(inspection.channel).toBe('none');
    run(inspection, 'previous-channel');
    expect(query()).toEqual({ ch: 'delta_p' });
    inspection.scoreBy('base');
    expect(query()).toEqual({ ch: 'by_delta_p', by: 'base' });
    run(inspection, 'next-channel');
    expect(inspection.channel).toBe('by_logprob');
    inspection.scoreBy('other');
    expect(inspection.channel).toBe('by_logprob');
    inspection.scoreBy('');
    expect(query()).toEqual({});
  });

  test('scores by other weights become values; nothing else is built again', () => {
    const { inspection, setSecond } = open('by=base&ch=by_logprob');
    const { source, sequence } = inspection;
    expect(inspection.values.by_logprob.every(Number.isNaN)).toBe(true);
    inspection.selectToken(4);
    expect(inspection.source).toBe(source);
    setSecond({
      name: 'base',
      scores: {
        logprobs: new Float32Array(9).fill(-0.5),
        entropies: new Float32Array(9),
        top: { k: 0, ids: new Uint32Array(), logprobs: new Float32Array() },
      },
    });
    expect(inspection.values.by_logprob[4]).toBe(-0.5);
    expect(inspection.values.by_logprob[0]).toBeNaN();
    expect(inspection.source).not.toBe(source);
    expect(inspection.sequence).toBe(sequence);
  });

  test('tokens outside the clip band are counted', () => {
    expect(open().inspection.framed).toBe(2);
    stop();
    expect(open('', { band: { low: 0.4, high: 1.28 } }).inspection.framed).toBe(1);
  });

  test('the advantage of the rollout colours its sampled tokens', () => {
    const { inspection } = open();
    expect([inspection.values.advantage[3], inspection.values.advantage[0]]).toEqual([0.5, NaN]);
  });
});

describe('scale', () => {
  const group = [{ id: 'mine', advantage: 0.5 }, { id: 'other' }, { id: 'missing' }];
  const read = (id: string) => Promise.resolve(id === 'missing' ? undefined : trajectory(id === 'other' ? -20 : undefined));

  test('is of this rollout until the group is read, and then of the group', async () => {
    const { inspection } = open('ch=logprob&scale=group', { group, read });
    expect([inspection.scaledBy, inspection.clip, inspection.scaleChoice]).toEqual(['rollout', 3, 'group']);
    await expect.poll(() => inspection.scaledBy).toBe('group');
    expect(inspection.scale).toMatchObject({ clip: 20, rollouts: 2 });
    inspection.scaleBy('rollout');
    expect([inspection.scaledBy, inspection.clip]).toEqual(['rollout', 3]);
    expect(query()).toEqual({ ch: 'logprob' });
  });

  test('the group is read only for a channel that has a scale of the group', async () => {
    const asked = vi.fn(read);
    const { inspection } = open('scale=group', { group, read: asked });
    inspection.colorBy('by_entropy');
    flushSync();
    expect(asked).not.toHaveBeenCalled();
    expect(inspection.scaleChoice).toBeNull();
    inspection.colorBy('entropy');
    flushSync();
    await expect.poll(() => asked.mock.calls.length).toBe(3);
  });

  test('without a group there is no choice, and without a channel no scale', () => {
    const { inspection } = open('ch=logprob');
    expect(inspection.scaleChoice).toBeNull();
    inspection.colorBy('mask');
    expect([inspection.scale, inspection.clip]).toEqual([null, 1]);
  });
});

describe('find', () => {
  test('goes over the matches in a circle, across tokens', () => {
    const { inspection } = open();
    inspection.find();
    inspection.searchFor('iy');
    expect(inspection.matches).toEqual([{ start: 3, end: 5 }]);
    inspection.searchFor('you');
    expect(inspection.match).toBeUndefined();
    const visited = [1, 1, 1, -1].map((offset) => {
      inspection.stepMatch(offset as 1 | -1);
      return [inspection.position, inspection.matches.indexOf(inspection.match!)];
    });
    expect(visited).toEqual([
      [1, 0],
      [4, 1],
      [1, 0],
      [4, 1],
    ]);
  });

  test('opens by the command or by an address, and closing removes the text from the address', () => {
    const { inspection } = open();
    expect(inspection.finding).toBe(false);
    run(inspection, 'find');
    expect(inspection.finding).toBe(true);
    inspection.closeFind();
    expect(inspection.finding).toBe(false);
    inspection.searchFor('you');
    expect(inspection.finding).toBe(true);
    inspection.closeFind();
    expect(query()).toEqual({});
  });
});

describe('text', () => {
  test('is null, with a reason, if the vocabulary cannot be read or is another one', () => {
    const unread = open('', { vocabulary: new Error('no network') }).inspection;
    expect([unread.text, unread.source.vocabulary]).toEqual([null, null]);
    expect(unread.problem).toContain('no network');
    stop();
    const other = open('', { vocabulary: new Vocabulary({ model: { vocab: { x: 0 } } }) }).inspection;
    expect(other.problem).toContain('was not made with the tokenizer of nano');
    stop();
    expect(open().inspection.problem).toBeNull();
  });
});

describe('links', () => {
  test('keep the look of the inspector, and no selection', () => {
    const { inspection } = open('view=rendered&ch=entropy&tok=4&q=you');
    expect(inspection.callLink(1)).toBe('#/runs/run/rollouts/mine?view=rendered&ch=entropy&call=1');
    expect(inspection.messageProps(NODES[5]!)).toMatchObject({ worldLink: inspection.callLink(1), current: false });
    expect(inspection.messageProps(NODES[5]!).broken).toHaveLength(1);
    expect(inspection.messageProps(NODES[3]!).broken).toBeUndefined();
  });

  test('a fork names the selected message; without a selection the last message of the role', () => {
    const { inspection } = open();
    expect(decodeURIComponent(inspection.forks!.user)).toBe('#/play/retail/retail/nano/train/0/0?from=run/mine@0&as=user');
    expect(decodeURIComponent(inspection.forks!.agent)).toContain('from=run/mine@4&as=agent');
    inspection.selectMessage(2);
    expect(decodeURIComponent(inspection.forks!.agent)).toContain('from=run/mine@2&as=agent');
  });
});

describe('keys', () => {
  const press = (target: Element, key: string) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    target.dispatchEvent(event);
    return event.defaultPrevented;
  };

  test('run commands, except in text fields and while a dialog is open', () => {
    const { inspection } = open();
    const onkeydown = (event: KeyboardEvent) => runKey(inspection, event);
    addEventListener('keydown', onkeydown);
    const input = document.body.appendChild(document.createElement('input'));
    expect([press(document.body, 'j'), query()]).toEqual([true, { turn: '0' }]);
    // There is no previous rollout, so the inspector does not handle the key.
    expect(press(document.body, '[')).toBe(false);
    expect([press(input, 'j'), query()]).toEqual([false, { turn: '0' }]);
    const dialog = document.body.appendChild(document.createElement('dialog'));
    dialog.showModal();
    expect([press(document.body, 'j'), query()]).toEqual([false, { turn: '0' }]);
    for (const element of [input, dialog]) element.remove();
    removeEventListener('keydown', onkeydown);
  });

  test('lead to the neighbours where there are any', () => {
    const { inspection } = open('', { sibling: (offset) => (offset > 0 ? '#/runs/run/rollouts/next' : undefined) });
    expect(run(inspection, 'previous-sibling')).toEqual([false]);
    expect(location.hash).toBe(ADDRESS);
    expect(run(inspection, 'next-sibling')).toEqual([true]);
    expect(location.hash).toBe('#/runs/run/rollouts/next');
  });

  test('fork opens the play page', () => {
    const { inspection } = open('turn=2');
    const { user } = inspection.forks!;
    run(inspection, 'fork');
    expect(location.hash).toBe(user);
  });
});
