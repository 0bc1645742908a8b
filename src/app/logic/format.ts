/** @file Numbers, times and names as the page writes them. */
import type { TerminationReason, Trajectory } from '../../agent/types.ts';
import type { Violation } from '../../environments/types.ts';
import type { RunStatus } from '../../training/types.ts';

export const percent = (value: number) => `${(100 * value).toFixed(0)} %`;

/** Three significant digits, without exponents where a person can read it. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) return value.toExponential(1);
  if (size >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

export function seconds(value: number): string {
  if (value > 0 && value < 1) return `${Math.round(1000 * value)} ms`;
  if (value < 60) return `${Number(value.toPrecision(3))} s`;
  const minutes = Math.floor(value / 60);
  return minutes < 60 ? `${minutes} min ${Math.round(value % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** As short as an axis has room for. */
export const tickSeconds = (value: number) => `${number(value)} s`;

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const dateTime = (time: number) => dates.format(time);

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(3, Math.floor(Math.log10(value) / 3));
  return `${(value / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${['B', 'kB', 'MB', 'GB'][power]}`;
}

/** `modify_items+cancel (impossible)` → `modify items + cancel (impossible)`. */
export const intent = (name: string) => name.replaceAll('_', ' ').replaceAll('+', ' + ');

export const STATUS_LABELS: Record<RunStatus, string> = {
  starting: 'Starting',
  running: 'Training',
  paused: 'Paused',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

export const TERMINATION_LABELS: Record<TerminationReason, string> = {
  user_stop: 'the customer ended it',
  terminal_tool: 'handed over to a human',
  max_turns: 'too many turns',
  turn_length: 'one turn grew too long',
  malformed_call: 'malformed tool call',
  context_full: 'context full',
  user_error: 'the simulated user failed',
  aborted: 'aborted',
};

/** Why a conversation ended, with tau2-bench's word for it where its rules held. */
export const endingText = ({ termination, ending }: Pick<Trajectory, 'termination' | 'ending'>): string => `${TERMINATION_LABELS[termination]}${ending ? ` (tau2: ${ending})` : ''}`;

export const VIOLATION_LABELS: Record<Violation['rule'], string> = {
  not_authenticated: 'acted before knowing the customer',
  other_customer: 'touched another customer’s data',
  unconfirmed_write: 'changed data without asking',
};
