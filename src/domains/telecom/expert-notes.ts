/** @file What the expert knows. It reads the whole conversation again before each act, and nothing else. */
import { callOf } from '../../agent/acts.ts';
import type { ChatMessage } from '../../records/conversation.ts';
import type { ToolCall } from '../../records/task.ts';
import type { PhoneTrouble } from './scenario.ts';
import type { Bill, Customer, Line, Plan } from './schema.ts';

/** What the customer has read on the phone. A field is absent until the customer has said it; a later message replaces it. */
export interface PhoneFacts {
  airplane?: boolean;
  sim?: string;
  data?: boolean;
  roaming?: boolean;
  /** For example `2G`; `none` without service. */
  network?: string;
  saver?: boolean;
  vpn?: boolean;
  wifiCalling?: boolean;
  apnBroken?: boolean;
  mmscMissing?: boolean;
  /** What the app `messaging` is allowed to do. */
  permissions?: string[];
}

export interface CaseFile {
  problem: PhoneTrouble['problem'] | null;
  number?: string;
  abroad?: boolean;
  phone: PhoneFacts;
  customer?: Customer;
  lines: Line[];
  plans: Plan[];
  /** The customer's bills. Absent until they are shown. */
  bills?: Bill[];
  usage?: { used: number; limit: number };
  /** The gigabytes that the customer would buy: 0 if the customer wants none. Absent until the expert has asked. */
  gigabytes?: number;
  /** Whether the phone must be restarted, because its line was resumed or its access point settings were reset. */
  restart: boolean;
  /** Whether the expert changed the line and the customer has said nothing since. */
  untested: boolean;
  /** The bill for which a payment was requested, and what the customer has done with the request. */
  request: { bill_id: string; seen: boolean; paid: boolean } | null;
  /** The names of calls that failed. The expert does not make them again. */
  failed: Set<string>;
  transferred: boolean;
  lastSaid: string;
  lastHeard: string;
}

export function readConversation(messages: readonly ChatMessage[]): CaseFile {
  const file: CaseFile = {
    problem: null,
    phone: {},
    lines: [],
    plans: [],
    restart: false,
    untested: false,
    request: null,
    failed: new Set(),
    transferred: false,
    lastSaid: '',
    lastHeard: '',
  };
  let call: ToolCall | undefined;
  for (const message of messages) {
    const { role, content } = message;
    if (role === 'user') hear(file, content);
    else if (role === 'tool') {
      if (call) readResult(file, call, content);
      call = undefined;
    } else if (role === 'assistant') {
      const made = callOf(message);
      if (made) call = made;
      else file.lastSaid = content;
    }
  }
  return file;
}

/** Words that name a problem. Complaints about data and picture messages do not mention service or signal. */
const PROBLEMS: readonly [RegExp, PhoneTrouble['problem']][] = [
  [/\bMMS\b|picture messages/i, 'mms'],
  [/mobile data|internet/i, 'data'],
  [/\bservice\b|\bsignal\b/i, 'service'],
];

/** The question about the gigabytes that the customer would buy. The answer to it is read. */
export const ASK_GIGABYTES = 'How many GB shall I add?';

function hear(file: CaseFile, text: string): void {
  file.problem ??= PROBLEMS.find(([sign]) => sign.test(text))?.[1] ?? null;
  file.number ??= /\b\d{3}-\d{3}-\d{4}\b/.exec(text)?.[0];
  if (/\bI am (abroad|at home)\b/i.test(text)) file.abroad = /\babroad\b/i.test(text);
  const gigabytes = /(\d+(?:\.\d+)?) GB\b/.exec(text)?.[1];
  if (gigabytes !== undefined) file.gigabytes = Number(gigabytes);
  else if (file.lastSaid === ASK_GIGABYTES && /^No\b/.test(text)) file.gigabytes = 0;
  if (/Restarting network services/.test(text)) {
    file.restart = false;
    if (/Resetting APN settings/.test(text)) Object.assign(file.phone, { apnBroken: false, mmscMissing: false });
  }
  if (/APN settings will reset at reboot/.test(text)) file.restart = true;
  if (file.request && /You have a payment request/.test(text)) file.request.seen = true;
  if (file.request && /Payment of .* has been made/.test(text)) file.request.paid = true;
  file.untested = false;
  file.lastHeard = text;
  readPhone(file.phone, text);
}

function readPhone(phone: PhoneFacts, text: string): void {
  const shown = (pattern: RegExp) => pattern.exec(text)?.slice(1).find(Boolean);
  const note = <K extends keyof PhoneFacts>(key: K, value: PhoneFacts[K] | undefined) => {
    if (value !== undefined) phone[key] = value;
  };
  const on = (pattern: RegExp) => {
    const state = shown(pattern)?.toLowerCase();
    return state === undefined ? undefined : state === 'on' || state === 'yes';
  };
  note('airplane', on(/Airplane Mode(?:: | is now )(ON|OFF)/));
  note('sim', /SIM card re-seated/.test(text) ? 'active' : shown(/SIM Card Status: (\w+)/));
  note('data', on(/Mobile Data Enabled: (Yes|No)|Mobile Data is now (ON|OFF)/));
  note('roaming', on(/Data Roaming Enabled: (Yes|No)|Data Roaming is now (ON|OFF)/));
  note('network', shown(/Cellular Network Type: (\w+)/));
  note('wifiCalling', on(/Wi-Fi Calling is (?:currently turned|now) (ON|OFF)/));
  const apn = shown(/Current APN Name: (\w+)/);
  if (apn !== undefined) note('apnBroken', apn !== 'internet');
  const mmsc = shown(/MMSC URL[^:]*: (Not Set|\S+)/);
  if (mmsc !== undefined) note('mmscMissing', mmsc === 'Not Set');
  if (/App 'messaging' currently has no permissions/.test(text)) phone.permissions = [];
  note('permissions', shown(/App 'messaging' has permission for: ([\w, ]+)/)?.split(', '));
  const granted = shown(/Permission '(\w+)' granted/);
  if (granted) phone.permissions = [...(phone.permissions ?? []), granted];
  readStatusBar(phone, shown(/Status Bar: ([^.;]*)/)?.split(' | ') ?? []);
}

/** The data saver appears in the status bar only while mobile data is connected and enabled. */
function readStatusBar(phone: PhoneFacts, icons: readonly string[]): void {
  const network = icons.map((icon) => icon.trim()).find((icon) => /^[2-5]G$/.test(icon));
  if (network) phone.network = network;
  const shows = (name: string) => icons.some((icon) => icon.trim() === name);
  if (network && shows('Data Enabled')) Object.assign(phone, { saver: shows('Data Saver'), vpn: shows('VPN Connected') });
}

function readResult(file: CaseFile, { name, arguments: args }: ToolCall, text: string): void {
  if (text.startsWith('Error')) {
    file.failed.add(name);
    return;
  }
  switch (name) {
    case 'get_customer_by_phone':
      file.customer = JSON.parse(text) as Customer;
      break;
    case 'get_details_by_id':
      readDetails(file, JSON.parse(text) as Line | Plan | Bill);
      break;
    case 'get_bills_for_customer':
      file.bills = JSON.parse(text) as Bill[];
      break;
    case 'get_data_usage': {
      const usage = JSON.parse(text) as Record<'data_used_gb' | 'data_limit_gb' | 'data_refueling_gb', string>;
      file.usage = { used: Number(usage.data_used_gb), limit: Number(usage.data_limit_gb) + Number(usage.data_refueling_gb) };
      break;
    }
    case 'send_payment_request':
      file.request = { bill_id: String(args.bill_id), seen: false, paid: false };
      break;
    case 'resume_line':
      file.lines.find(({ line_id }) => line_id === args.line_id)!.status = 'Active';
      file.restart = true;
      break;
    case 'enable_roaming':
      file.lines.find(({ line_id }) => line_id === args.line_id)!.roaming_enabled = true;
      file.untested = true;
      break;
    case 'refuel_data':
      file.usage!.limit += Number(args.gb_amount);
      file.untested = true;
      break;
    case 'transfer_to_human_agents':
      file.transferred = true;
  }
}

/** Keeps a record. The first field of each record of a provider is its id. */
function readDetails(file: CaseFile, row: Line | Plan | Bill): void {
  if ('line_id' in row) file.lines.push(row);
  else if ('bill_id' in row) file.bills = file.bills?.map((bill) => (bill.bill_id === row.bill_id ? row : bill));
  else file.plans.push(row);
}
