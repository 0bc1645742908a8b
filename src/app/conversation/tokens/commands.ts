/** @file The work of each command of the inspector. Keys and buttons run the commands by name. */
import { isTyping } from '../../kit/typing.ts';
import { visit } from './fork-links.ts';
import type { Inspection } from './inspection.svelte.ts';
import { type Command, commandOf, cycle, nextWrite } from './navigation.ts';

const COMMANDS: Record<Command, (inspection: Inspection) => boolean | void> = {
  'next-message': (i) => i.step('message', 1),
  'previous-message': (i) => i.step('message', -1),
  'next-token': (i) => i.step('token', 1),
  'previous-token': (i) => i.step('token', -1),
  'next-highlight': (i) => i.stepHighlight(1),
  'previous-highlight': (i) => i.stepHighlight(-1),
  'next-write': (i) => i.selectMessage(nextWrite(i.shown, i.message)?.node.id ?? null),
  'next-sibling': (i) => visit(i.subject.sibling(1)),
  'previous-sibling': (i) => visit(i.subject.sibling(-1)),
  'next-channel': (i) => i.colorBy(cycle(i.channels, i.channel, 1)),
  'previous-channel': (i) => i.colorBy(cycle(i.channels, i.channel, -1)),
  view: (i) => i.setView(i.view === 'messages' ? 'rendered' : 'messages'),
  fork: (i) => visit(i.forks?.user),
  'fork-as-agent': (i) => visit(i.forks?.agent),
  find: (i) => i.find(),
  close: (i) => i.close(),
};

/** Runs a command by its name. Returns false if there was nothing to do. */
export function runCommand(inspection: Inspection, command: Command): boolean {
  return COMMANDS[command](inspection) !== false;
}

/** Runs the command of a pressed key, unless a dialog is open. */
export function runKey(inspection: Inspection, event: KeyboardEvent): void {
  if (document.querySelector('dialog[open]')) return;
  const command = commandOf(event, isTyping(event.target as Element));
  if (!command) return;
  inspection.pointer.byKey = true;
  if (runCommand(inspection, command)) event.preventDefault();
}
