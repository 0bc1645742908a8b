/** The lockers of the toy scenario with simulated tools: three fixed rows, and what the tools return. */
import { Overlay, World } from '../../src/environments/overlay.ts';
import type { Json } from '../../src/records/json.ts';
import type { ToolCall } from '../../src/records/task.ts';
import { toolsAt } from '../../src/scenarios/execute.ts';
import type { ReadScenario } from '../../src/scenarios/read.ts';
import { callKey } from '../../src/scenarios/simulated/domain.ts';
import type { Asked } from '../../src/scenarios/simulated/types.ts';
import { makeWorld } from '../../src/scenarios/world.ts';
import { type Draft, readToy } from './toy-scenario.ts';

const RETURNS = {
  get_locker: { type: 'object', 'x-row': 'locker' },
  rent_locker: { type: 'object', properties: { locker: { type: 'string' }, rent: { type: 'number' } }, required: ['locker', 'rent'] },
  give_up: { type: 'string', 'x-text': '"Locker " + args.locker + " is free."' },
};

export const simulatedToy = (change: (toy: Draft) => void = () => {}): ReadScenario =>
  readToy((toy) => {
    delete toy.tables.locker.count;
    for (const tool of toy.tools) if (tool.name in RETURNS) tool.returns = RETURNS[tool.name as keyof typeof RETURNS];
    toy.tools.push({
      name: 'list_lockers',
      description: 'Lists the lockers of a person, small ones first.',
      kind: 'read',
      parameters: { owner: { type: 'string', description: 'id' } },
      result: 'sort_by(tables.locker.filter(l, l.owner == args.owner), "size").map(l, l.id + " of size " + string(l.size))',
      returns: {
        type: 'array',
        'x-sorted': 'size',
        items: { type: 'string', 'x-row': 'locker', 'x-text': 'row.id + " of size " + string(row.size)' },
      },
    });
    change(toy);
  });

export const INSTRUCTION = 'You are Ann. You want to give up your small locker because you leave the town in May.';
export const WORLD_ID = 'lockers/hard/train/1/w0';

/** A call with the rows before it. */
export function askedOf(own: ReadScenario, name: string, args: Record<string, Json>, more: Partial<Asked> = {}): Asked {
  const rows = new Overlay(new World(WORLD_ID, makeWorld(own, { level: 'hard', split: 'train', seed: 1, number: 0 })));
  const call: ToolCall = { name, arguments: args };
  return {
    own,
    level: 'hard',
    tool: toolsAt(own, 'hard').find((tool) => tool.name === name)!,
    call,
    task: { scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: INSTRUCTION } },
    rows,
    key: callKey(own, rows, WORLD_ID, call),
    history: [],
    attempt: 0,
    findings: [],
    ...more,
  };
}
