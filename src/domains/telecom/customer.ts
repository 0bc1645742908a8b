/**
 * @file The scripted customer that has tools (tau2-bench's dual control). It makes the calls that the agent names, one at a
 * time, reports the results, and stops when the problem is solved. It knows the symptoms of the problem, but never the causes.
 */
import { Dice } from '../../base/dice.ts';
import type { Json } from '../../records/json.ts';
import type { ToolSchema, UserScenario } from '../../records/task.ts';
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { hearable } from '../../users/hearable.ts';
import { instructionIn } from '../../users/prompt.ts';
import { type CustomerScripts, type Move, OUT_OF_SCOPE, STOP, TRANSFER } from '../../users/types.ts';
import { attacker } from '../attacks.ts';
import { suggestions } from '../retail/customer/speech.ts';
import { LINE_WORDING, lineCustomer } from './glimpse/customer.ts';
import type { PhoneTrouble } from './scenario.ts';

export const phoneCustomers: CustomerScripts = {
  customer(scenario, seed, { tools = [] } = {}) {
    const attack = attacker(scenario);
    if (attack) return attack;
    if (scenario.wishes.length > 0) return lineCustomer(scenario, seed);
    const { problem } = scenario.phone ?? {};
    if (scenario.phone && !Object.hasOwn(GOALS, String(problem)))
      throw new Error(`scenario.phone.problem: '${String(problem)}' is unknown; expected one of ${Object.keys(GOALS).join(', ')}`);
    return new HandsOnCustomer(scenario, tools, seed);
  },
  read: (prompt) => ({ persona: 'on_request', identity: {}, wishes: [], instruction: instructionIn(prompt) }),
  suggestions: ({ scenario }) => suggestions(scenario, LINE_WORDING),
};

/** For each problem: the tool that shows whether it is solved, and the result that says so. */
const GOALS: Record<PhoneTrouble['problem'], { tool: string; met: RegExp; complaint: readonly string[] }> = {
  service: {
    tool: 'check_status_bar',
    met: /^(?!.*(No Signal|Airplane)).*Status Bar/,
    complaint: ['My phone has no service.', 'I have no signal on my phone.'],
  },
  data: {
    tool: 'run_speed_test',
    met: /\(Excellent\)/,
    complaint: [
      'My mobile data does not work or is too slow. I want an excellent speed.',
      'The internet on my phone is slow or gone. It should be excellent.',
    ],
  },
  mms: { tool: 'can_send_mms', met: /\bcan send MMS/, complaint: ['I cannot send picture messages.', 'My phone does not send MMS.'] },
};

/** Phrases that mean exactly one tool. They are for agents that do not use the name of the tool. */
const PHRASES: readonly [RegExp, string][] = [
  [/\b(restart|reboot)\b/i, 'reboot_device'],
  [/\bspeed ?test\b/i, 'run_speed_test'],
  [/\bstatus bar\b/i, 'check_status_bar'],
  [/\bre-?(seat|insert)\b.{0,200}\bsim\b/i, 'reseat_sim_card'],
  [/\bcheck\b.{0,200}\bpayment request\b/i, 'check_payment_request'],
];

/** For each argument, the pattern with which it is found in the agent's words. */
const ARGUMENTS: Readonly<Record<string, RegExp>> = {
  mode: /\b[234]g_(?:5g_preferred|only)\b/i,
  app_name: /\b(?:messaging|browser)\b/i,
  permission: /\b(?:sms|storage|phone|network)\b/i,
  notification_id: /\bnotif\w*\d+\b/i,
};

/** The customer leaves after `MAX_REPLIES` answers, or after `PATIENCE` messages that it cannot understand. */
const MAX_REPLIES = 80;
const PATIENCE = 4;

/** The state of one conversation. It depends only on the scenario, the tools, the seed, the agent's messages and the tool results. */
export class HandsOnCustomer {
  private readonly dice: Dice;
  private readonly trouble: PhoneTrouble | null;
  /** Each tool's name, with a pattern that finds it if it is written with underscores or spaces. */
  private readonly names: readonly { name: string; pattern: RegExp }[];
  private replies = 0;
  private lost = 0;
  /** `running` is the tool of the current call. `seen` is the result of the previous call. */
  private running = '';
  private seen = '';

  constructor(
    private readonly scenario: UserScenario,
    private readonly tools: readonly ToolSchema[],
    seed: number,
  ) {
    this.dice = new Dice('hands-on user', seed);
    // Longer names come first, because `toggle_data` is a part of `toggle_data_saver_mode`.
    this.names = tools
      .map((tool) => tool.function.name)
      .sort((a, b) => b.length - a.length)
      .map((name) => ({ name, pattern: new RegExp(`\\b${escapeRegExp(name).replaceAll('_', '[_ ]')}\\b`, 'gi') }));
    const trouble = (scenario.phone as PhoneTrouble | undefined) ?? readTrouble(scenario.instruction);
    this.trouble = trouble && this.has(GOALS[trouble.problem].tool) ? trouble : null;
  }

  open(): string {
    const { trouble, dice } = this;
    const greeting = dice.pick(['Hi.', 'Hello.']);
    if (!trouble) return `${greeting} ${this.scenario.instruction}`;
    return [greeting, dice.pick(GOALS[trouble.problem].complaint), ...(trouble.terse ? [] : [this.who(), this.where()])]
      .filter(Boolean)
      .join(' ');
  }

  /** The customer's answer to a message of the agent. */
  hear(message: string): Move {
    const text = hearable(message);
    this.replies += 1;
    if (/\bbeing transferred\b|\b(i am|i'm|i will|i'll) (now )?transfer/i.test(text)) return { say: TRANSFER };
    if (this.replies >= MAX_REPLIES) return { say: `I give up. ${STOP}` };
    const named = this.named(text);
    if (named.length > 1)
      return { say: this.dice.pick(['One step at a time, please. What do I do first?', 'I can only do one thing at a time. Which one?']) };
    if (named.length === 1) return this.carryOut(named[0]!, text);
    return this.answer(text);
  }

  /** The customer's next move after the result of the current call. */
  result(output: string): Move {
    const text = hearable(output);
    const goal = this.trouble && GOALS[this.trouble.problem];
    const shown = [this.seen, inWords(text)].filter(Boolean).join(' ');
    this.seen = '';
    if (goal && this.running === goal.tool)
      return { say: goal.met.test(text) ? `${shown} It works now, thank you. ${STOP}` : `${shown} It still does not work.` };
    // After a change, the customer checks whether it has helped.
    if (goal && !/^(check|run|can)_/.test(this.running) && !text.startsWith('Error')) {
      this.seen = shown;
      return this.use(goal.tool);
    }
    return { say: shown };
  }

  private use(name: string, args: Record<string, Json> = {}): Move {
    this.running = name;
    return { call: { name, arguments: args } };
  }

  private has(name: string): boolean {
    return this.names.some((known) => known.name === name);
  }

  private named(text: string): string[] {
    let rest = text;
    const found = this.names.flatMap(({ name, pattern }) => {
      const before = rest;
      rest = rest.replace(pattern, ' ');
      return rest === before ? [] : [name];
    });
    return found.length ? found : PHRASES.flatMap(([phrase, name]) => (phrase.test(text) && this.has(name) ? [name] : []));
  }

  private carryOut(name: string, text: string): Move {
    // In some schemas without required arguments, the list of required arguments is missing.
    const { properties, required = [] } = this.tools.find((tool) => tool.function.name === name)!.function.parameters as Partial<
      ToolSchema['function']['parameters']
    >;
    const rest = text.replace(new RegExp(escapeRegExp(name), 'gi'), ' ');
    const args: Record<string, Json> = {};
    for (const property of Object.keys(properties ?? {})) {
      const value = Object.hasOwn(ARGUMENTS, property) ? ARGUMENTS[property]!.exec(rest)?.[0] : undefined;
      if (value !== undefined) args[property] = value.toLowerCase();
    }
    if (required.some((property) => !(property in args)))
      return {
        say: `What exactly shall I enter? It asks for ${required
          .filter((property) => !(property in args))
          .join(' and ')
          .replaceAll('_', ' ')}.`,
      };
    this.lost = 0;
    return this.use(name, args);
  }

  private answer(text: string): Move {
    const { trouble, dice } = this;
    const facts = [
      ...(/\b(name|number|who)\b/i.test(text) ? [this.who()] : []),
      ...(/\b(where|abroad|travel\w*|country|location|at home)\b/i.test(text) ? [this.where() || 'That has nothing to do with it.'] : []),
    ].filter(Boolean);
    if (facts.length) return { say: facts.join(' ') };
    if (trouble && /\b(change|upgrade|switch|another|different|new)\b.{0,200}\bplan\b/i.test(text))
      return { say: 'No, I do not want another plan.' };
    if (trouble && /\b(refuel\w*|gb|gigabytes?|more data)\b/i.test(text)) return { say: this.refuel(text) };
    if (/\bpay\b|\bpayment\b/i.test(text)) return { say: dice.pick(['Yes, I will pay it.', 'Yes, that is fine.']) };
    if (/\b(else|solved|fixed|resolved|better|work(s|ing)?|help(s|ed)?)\b/i.test(text))
      return trouble ? this.use(GOALS[trouble.problem].tool) : { say: `No, that is all. ${STOP}` };
    if (/\b(shall i|may i|do you agree|is that ok(ay)?|would you like|can i|should i)\b/i.test(text))
      return { say: dice.pick(['Yes, please.', 'Yes.']) };
    if (/\bplease (wait|hold)\b|\bone moment\b/i.test(text)) return { say: 'All right.' };
    this.lost += 1;
    if (this.lost >= PATIENCE) return { say: OUT_OF_SCOPE };
    return { say: dice.pick(["I don't know. What should I do?", 'I am not sure what you mean. What should I do?']) };
  }

  private refuel(text: string): string {
    const wanted = this.trouble!.refuel;
    if (wanted === null) return 'No, I do not want to buy more data.';
    const offered = /(\d{1,6}(?:\.\d{1,6})?)\s{0,9}(?:gb|gigabytes?)\b/i.exec(text)?.[1];
    return offered !== undefined && Number(offered) !== wanted ? `No, I would take ${wanted} GB.` : `Yes, ${wanted} GB, please.`;
  }

  private who(): string {
    const { name, phone_number } = { ...readIdentity(this.scenario.instruction), ...this.scenario.identity };
    return [...(name ? [`I am ${name}.`] : []), ...(phone_number ? [`My number is ${phone_number}.`] : [])].join(' ');
  }

  private where(): string {
    const place = this.trouble?.place ?? null;
    return place === null ? '' : place === 'home' ? 'I am at home.' : `I am abroad, in ${place}.`;
  }
}

/** A tool's result without emoji and line breaks. */
function inWords(text: string): string {
  const plain = text
    .replace(/[\p{Extended_Pictographic}\uFE0F¹²³⁴]/gu, '')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join('; ');
  return /[.!?]$/.test(plain) ? plain : `${plain}.`;
}

/** Words that name a problem. In the text of an imported task, the first such word decides, because later ones are only examples. */
const SIGNS: readonly [RegExp, PhoneTrouble['problem']][] = [
  [/\bMMS\b|picture messag/i, 'mms'],
  [/mobile data|internet/i, 'data'],
  [/\bservice\b|\bsignal\b/i, 'service'],
];

/** The problem that the text of an imported task describes. Null if none is found. */
function readTrouble(text: string): PhoneTrouble | null {
  const [first] = SIGNS.map(([sign, problem]) => ({ at: text.search(sign), problem }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  if (!first) return null;
  const place = /\babroad,? in (\p{Lu}\p{L}+)/u.exec(text)?.[1] ?? (/\bat home\b/i.test(text) ? 'home' : null);
  const refuel = /(\d{1,6}(?:\.\d{1,6})?) ?GB/.exec(text)?.[1];
  return { problem: first.problem, place, refuel: refuel === undefined ? null : Number(refuel), terse: true };
}

function readIdentity(text: string): Record<string, string> {
  const name = /\bYou are (\p{Lu}\p{L}+ \p{Lu}\p{L}+)/u.exec(text)?.[1];
  const phone_number = /\b\d{3}-\d{3}-\d{4}\b/.exec(text)?.[0];
  return { ...(name && { name }), ...(phone_number && { phone_number }) };
}
