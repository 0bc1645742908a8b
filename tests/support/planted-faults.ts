/** Adds one fault of the customer to a correct conversation. The seed decides the wording, the position and the values. */
import type { Dice } from '../../src/base/dice.ts';
import type { MessageNode, Trajectory } from '../../src/records/trajectory.ts';
import type { CustomerFaultKind } from '../../src/records/user.ts';
import { STOP } from '../../src/users/types.ts';
import { message } from './customer-conversations.ts';

/** The conversation with the fault, and the id of its message; null if the conversation has no place for the fault. */
export type Plant = (played: Trajectory, dice: Dice) => { trajectory: Trajectory; at: number } | null;

const isUser = ({ role }: MessageNode) => role === 'user';
const digits = (dice: Dice, count: number) => String(dice.int(1, 9)) + Array.from({ length: count - 1 }, () => dice.int(0, 9)).join('');

/** `played` up to the message `at`, with another text. */
function endAt(played: Trajectory, at: number, text: string, more: Partial<Trajectory> = {}): Trajectory {
  const nodes = played.nodes.slice(0, at + 1).map((node) => (node.id === at ? { ...node, text } : node));
  return { ...played, nodes, leaf: at, ...more };
}
const reword = (played: Trajectory, at: number, text: string): Trajectory => ({
  ...played,
  nodes: played.nodes.map((node) => (node.id === at ? { ...node, text } : node)),
});

/** Adds a sentence to a message of the customer, before or behind its words. */
const adding =
  (sentence: (dice: Dice, played: Trajectory) => string | null): Plant =>
  (played, dice) => {
    const { id, text } = dice.pick(played.nodes.filter((node) => isUser(node) && !node.text.includes(STOP)));
    const added = sentence(dice, played);
    return added === null ? null : { trajectory: reword(played, id, dice.chance(0.5) ? `${text} ${added}` : `${added} ${text}`), at: id };
  };

const FIRST_NAMES = ['Zelda', 'Quentin', 'Ottoline', 'Bartholomew', 'Ximena', 'Wolfgang'];
const LAST_NAMES = ['Featherstone', 'Vandermeer', 'Quisling', 'Zamorano', 'Abernathy'];
const inventedFacts = (dice: Dice) => [
  `My email is ${dice.pick(FIRST_NAMES).toLowerCase()}${dice.int(10, 99)}@${dice.pick(['mail.test', 'post.example.org', 'web.example'])}.`,
  `You can reach me at ${dice.pick(LAST_NAMES).toLowerCase()}_${digits(dice, 3)}@example.net if needed.`,
  `It is about order #W${digits(dice, 7)}.`,
  `There is also order W${digits(dice, 7)}, I think.`,
  `My zip code is ${digits(dice, 5)}.`,
  `I live in ${digits(dice, 5)}.`,
  `The item number is ${digits(dice, 10)}.`,
  `I paid $${digits(dice, 3)}.${digits(dice, 2)} for it.`,
  `The refund should be $${digits(dice, 4)}.`,
  `Use my card ending in ${digits(dice, 4)}.`,
  `My phone number is 555-${digits(dice, 3)}-${digits(dice, 4)}.`,
  `My payment id is paypal_${digits(dice, 7)}.`,
  `My name is ${dice.pick(FIRST_NAMES)} ${dice.pick(LAST_NAMES)}.`,
  `The order is under the name of ${dice.pick(FIRST_NAMES)} ${dice.pick(LAST_NAMES)}.`,
  `I'm ${dice.pick(FIRST_NAMES)} ${dice.pick(LAST_NAMES)} by the way.`,
];

function contradiction(dice: Dice, { task: { scenario } }: Trajectory): string | null {
  const { identity, wishes } = scenario;
  const slots = wishes.flatMap((wish) => [wish.slots, wish.insteadOf?.slots ?? {}]);
  const kinds = new Set(slots.map(({ payment_method_id }) => String(payment_method_id).replace(/_\d+$/, '')));
  const reasons = new Set(slots.flatMap(({ reason }) => reason ?? []));
  const said: string[] = [];
  if (identity.email)
    said.push(`My email is ${dice.pick(FIRST_NAMES).toLowerCase()}@example.com.`, `Sorry, it is other.${identity.email}.`);
  if (identity.zip) said.push(`My zip is ${digits(dice, 5)}.`, `The zip code is ${digits(dice, 5)}, please note it.`);
  if (identity.first_name && identity.last_name)
    said.push(
      `My name is ${identity.first_name} ${dice.pick(LAST_NAMES)}.`,
      `I am ${dice.pick(FIRST_NAMES)} ${identity.last_name}.`,
      `This is ${dice.pick(FIRST_NAMES)} ${identity.last_name} speaking.`,
    );
  if (slots.some(({ order_id }) => order_id))
    said.push(`I mean order #W${digits(dice, 7)}.`, `Please do it for #W${digits(dice, 7)}.`, `The order number is W${digits(dice, 7)}.`);
  if (!wishes.some(({ words }) => words.payment?.[0]?.startsWith('original')))
    for (const [kind, name] of [
      ['paypal', 'PayPal'],
      ['gift_card', 'gift card'],
      ['credit_card', 'credit card'],
    ] as const)
      if (slots.some(({ payment_method_id }) => payment_method_id) && !kinds.has(kind))
        said.push(`Please use my ${name}.`, `I want it on my ${name}.`, `Put it on the ${name}, please.`);
  if (reasons.size === 1)
    said.push(
      ...(reasons.has('no longer needed')
        ? ['I ordered it by mistake.', 'It was an accident, I ordered it by mistake.', 'The reason is that it was bought by accident.']
        : ['I no longer need it.', 'It is no longer needed.', "I just don't need it."]),
    );
  return said.length > 0 ? dice.pick(said) : null;
}

/** All facts in a first message, in the words of a chatty customer. */
const everything: Plant = (played, dice) => {
  const { scenario } = played.task;
  if (scenario.persona !== 'on_request') return null;
  const { email, first_name, last_name, zip } = scenario.identity;
  const { slots, words, intent } = scenario.wishes[0]!;
  const who = email
    ? dice.pick([`my email is ${email}`, `you find me under ${email}`, `I use ${email}`])
    : dice.pick([
        `I'm ${first_name} ${last_name} from ${zip ?? 'here'}`,
        `my name is ${first_name} ${last_name}${zip ? ` and my zip is ${zip}` : ''}`,
      ]);
  const facts = [
    slots.order_id && dice.pick([`the order is ${String(slots.order_id)}`, `it is about ${String(slots.order_id)}`]),
    slots.reason &&
      (slots.reason === 'ordered by mistake'
        ? dice.pick(['it was ordered by mistake', 'I bought it by accident'])
        : dice.pick(["I don't need it anymore", 'it is no longer needed'])),
    words.items && `for the ${words.items.join(' and the ')}`,
    words.new_items && `instead I would like ${words.new_items.join(', ')}`,
    words.payment && dice.pick([`money on the ${words.payment[0]}`, `use my ${words.payment[0]}`]),
    words.address && `the new address is ${words.address[0]}`,
  ].filter(Boolean);
  const parts = dice.sample([who, ...facts], facts.length + 1).join(dice.pick([', ', '; ', ' and ']));
  const first = played.nodes.find(isUser)!;
  const text = `${dice.pick(['Hi there', 'Good morning', 'Hello', 'Hey'])}, I need to ${intent.replace('_', ' ')}: ${parts}.`;
  return { trajectory: reword(played, first.id, text), at: first.id };
};

const AGENT_LINES = [
  'How can I help you today?',
  'Is there anything else I can help you with?',
  'Could you please provide your order number?',
  "I'd be happy to assist you with that.",
  'I have cancelled your order.',
  "I've processed your refund.",
  'Please provide your email so that I can find you.',
  'To verify your identity I need more.',
  'As your customer service agent I can do that.',
  'Let me check your order.',
  'Your order has been cancelled.',
  'Thank you for contacting us!',
  'Agent: what do you want?',
  '\nAssistant: Sure, one moment.',
  '<tool_call>\n{"name": "cancel_pending_order", "arguments": {}}\n</tool_call>',
  '{"name": "get_order_details", "arguments": {"order_id": "x"}}',
  '<|im_start|>assistant',
  '<tool_response>{}</tool_response>',
];
const LEAKS = [
  'My instructions say that I want this.',
  'According to the instructions, I should wait.',
  'As a simulated user, I cannot answer.',
  'My scenario has no such fact.',
  'The instruction does not say that.',
  'I was told to act as a customer.',
  'As an AI I have no email.',
  'That is not in my prompt.',
  'I am playing the role of a customer.',
  'I am a user simulator.',
];
const GOODBYES = ['Thanks, bye.', 'Great, that is all.', 'Perfect, thank you!', 'No, thanks.', 'Okay.', 'All good now.', ''];
const THANKS = [
  'Thank you so much!',
  "You're very kind.",
  'Have a great day.',
  'Thanks again.',
  'That is wonderful.',
  'Great, bye.',
  'Take care!',
];
const WELCOMES = ["You're welcome.", 'My pleasure.', 'Have a nice day!', 'Bye.', 'Of course.', 'Gladly.', 'See you.'];

const early: Plant = (played, dice) => {
  const settled = played.nodes.findIndex(
    ({ role, text, toolResult }) =>
      (toolResult?.changes.length ?? 0) > 0 ||
      (role === 'assistant' && /\b(done|cannot|sorry|transfer)/i.test(text)) ||
      /transfer/.test(toolResult?.name ?? ''),
  );
  const places = played.nodes.filter((node) => isUser(node) && (settled < 0 || node.id < settled));
  if (places.length === 0) return null;
  const { id } = dice.pick(places);
  return { trajectory: endAt(played, id, `${dice.pick(GOODBYES)} ${STOP}`.trim(), { termination: 'user_stop' }), at: id };
};

const endless: Plant = (played, dice) => {
  const last = played.nodes.at(-1)!;
  if (played.termination !== 'user_stop' || played.nodes.at(-2)!.role !== 'assistant' || !/done|sorry/i.test(played.nodes.at(-2)!.text))
    return null;
  const trajectory = endAt(played, last.id, dice.pick(THANKS), { termination: 'max_turns' });
  const { nodes } = trajectory;
  const same = dice.chance(0.4) ? dice.pick(THANKS) : null;
  const welcomes = dice.sample(WELCOMES, WELCOMES.length);
  for (let i = dice.int(same ? 4 : 1, 6); i > 0; i--) {
    nodes.push(message(nodes.length, 'assistant', welcomes[i]!, { content: welcomes[i]! }));
    nodes.push(message(nodes.length, 'user', same ?? dice.pick(THANKS)));
  }
  trajectory.leaf = nodes.length - 1;
  return { trajectory, at: trajectory.leaf };
};

const failing = (played: Trajectory, dice: Dice, errors: readonly string[]) => {
  const { id } = dice.pick(played.nodes.filter(isUser));
  return {
    trajectory: {
      ...endAt(played, id, played.nodes[id]!.text.replace(STOP, '')),
      termination: 'user_error' as const,
      error: dice.pick(errors),
    },
    at: id,
  };
};

const empty: Plant = (played, dice) => {
  if (dice.chance(0.3)) return failing(played, dice, ['the simulated user said nothing', 'the user endpoint gave an empty answer']);
  const { id } = dice.pick(played.nodes.filter((node) => isUser(node) && !node.text.includes(STOP)));
  return { trajectory: reword(played, id, dice.pick(['', ' ', '...', '…', '-', '—', '\n\n', '.', '""', '?!'])), at: id };
};

const cut: Plant = (played, dice) => {
  if (dice.chance(0.2))
    return failing(played, dice, [
      'the user endpoint cut its answer off (finish_reason "length")',
      'the user endpoint sent thoughts without an end (<think> is not closed)',
    ]);
  const { id, text } = dice.pick(
    played.nodes.filter((node) => isUser(node) && !node.text.includes(STOP) && node.text.split(' ').length > 3),
  );
  if (dice.chance(0.2))
    return { trajectory: reword(played, id, `${dice.pick(['<think>', '<Thinking>', 'Hi. <think>'])} The customer should ${text}`), at: id };
  // Inside a word of at least four letters, behind the second word.
  const words = [...text.matchAll(/[\w#@]{4,}/g)].filter(({ index }) => text.slice(0, index).split(' ').length > 2);
  if (words.length === 0) return null;
  const word = dice.pick(words);
  return { trajectory: reword(played, id, text.slice(0, word.index + dice.int(2, word[0].length - 1))), at: id };
};

/** A passage of the instruction of 10 to 24 words. */
const passage = (dice: Dice, { task }: Trajectory) => {
  const words = task.scenario.instruction.split(' ');
  const from = dice.int(0, Math.max(0, words.length - 12));
  return words.slice(from, from + dice.int(10, 24)).join(' ');
};

export const PLANTS: Record<CustomerFaultKind, Plant> = {
  ended_too_early: early,
  never_ended: endless,
  invented_fact: adding((dice) => dice.pick(inventedFacts(dice))),
  contradicted: adding(contradiction),
  told_everything: everything,
  spoke_as_agent: adding((dice) => dice.pick(AGENT_LINES)),
  leaked_instruction: adding((dice, played) => (dice.chance(0.5) ? passage(dice, played) : dice.pick(LEAKS))),
  empty_answer: empty,
  cut_answer: cut,
};
