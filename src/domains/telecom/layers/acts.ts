/** @file The writes of the phone provider, in the words of agents and customers, for the checks of communication and recovery. */
import type { ActWords } from '../../../agent/layers/communication-claims.ts';

export const ACTS: readonly ActWords[] = [
  {
    says: 'adding data',
    tools: ['refuel_data'],
    named: /\b(?:refuel|top(?:ped)? up|data|gb|gigabytes?)\b/i,
    claimed:
      /\b(?:gb|gigabytes?|data)\b.{0,60}\b(?:added|refueled|topped up|applied)\b|\b(?:added|refueled|topped up|applied)\b.{0,60}\b(?:gb|gigabytes?|data)\b/i,
  },
  {
    says: 'enabling roaming',
    tools: ['enable_roaming'],
    named: /^(?!.*\b(?:disabl|deactivat)).*\broam(?:ing)?\b/im,
    claimed:
      /^(?!.*\b(?:phone|device|toggle\w*|disabled|deactivated)\b).*(?:\broaming\b.{0,60}\b(?:enabled|activated|turned on)\b|\b(?:enabled|activated)\b.{0,30}\broaming\b)/i,
  },
  {
    says: 'disabling roaming',
    tools: ['disable_roaming'],
    named:
      /\b(?:disabl|deactivat)\w*\b[^.?!]{0,40}\broam|\broam\w*[^.?!]{0,40}\b(?:disabl|deactivat)\w*|\b(?:turn|switch)\w*\b[^.?!]{0,30}\boff\b[^.?!]{0,30}\broam|\broam\w*[^.?!]{0,20}\boff\b/i,
    claimed:
      /^(?!.*\b(?:phone|device|toggle\w*)\b).*(?:\broaming\b.{0,60}\b(?:disabled|deactivated|turned off)\b|\b(?:disabled|deactivated)\b.{0,30}\broaming\b)/i,
  },
  {
    says: 'resuming the line',
    tools: ['resume_line'],
    named: /\b(?:resum|reactivat|restor|lift|suspen)\w*/i,
    claimed: /\b(?:resumed|reactivated|restored|unsuspended|lifted)\b/i,
    thing: 'line_id',
  },
  {
    says: 'suspending the line',
    tools: ['suspend_line'],
    named: /\bsuspen\w*/i,
    claimed: /\b(?:i|we)(?:'ve| have)? (?:now |successfully )?suspended\b|\b(?:has been|is now) (?:successfully )?suspended\b/i,
    thing: 'line_id',
  },
  {
    says: 'requesting a payment',
    tools: ['send_payment_request'],
    named: /\b(?:payment|bill|pay|paid)\b/i,
    claimed: /\bpayment request\b.{0,60}\bsent\b|\bsent\b.{0,40}\bpayment request\b/i,
    thing: 'bill_id',
  },
];

export const TRANSFERS: readonly string[] = ['transfer_to_human_agents'];

/** Lines and bills in a text. */
export const thingsIn = (text: string): string[] => [...new Set(text.match(/\b[LB]\d{3,9}\b/g) ?? [])];

export const showsDone = (record: Record<string, unknown>, { tools }: ActWords): boolean =>
  (tools[0] === 'enable_roaming' && record.roaming_enabled === true) ||
  (tools[0] === 'disable_roaming' && record.roaming_enabled === false) ||
  (tools[0] === 'suspend_line' && record.status === 'Suspended') ||
  (tools[0] === 'resume_line' && record.status === 'Active') ||
  (tools[0] === 'send_payment_request' && record.status === 'Awaiting Payment');
