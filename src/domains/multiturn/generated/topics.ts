/** @file What generated tasks of each class are made of: the class's config, its functions, and sentences that ask for one call. */
import type { Draw } from './draw.ts';

/** A sentence that asks for one call. A slot is an argument: `{title}` is a text, `{priority:int}` an int, `{price:float}` a float. */
export interface Sentence {
  text: string;
  name: string;
  /** The arguments that the sentence says in its own words. */
  fixed?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** The values of a slot. They fit the config. */
export type Pools = Readonly<Record<string, readonly (string | number)[]>>;

export interface Topic {
  className: string;
  /** The functions that the model is shown, in Python's notation. */
  signatures: readonly string[];
  sentences: readonly Sentence[];
  /** Draws the config, as JSON with Python's floats, and the values of the slots. */
  make(draw: Draw): { config: string; pools: Pools };
}

const NAMES = ['anna', 'boris', 'carla', 'dev', 'elif', 'farid', 'greta', 'hugo', 'ines', 'jonas', 'kim', 'lena'];
const WORDS = [
  'amber',
  'birch',
  'cedar',
  'delta',
  'ember',
  'fjord',
  'grove',
  'harbor',
  'iris',
  'juniper',
  'kelp',
  'lagoon',
  'maple',
  'north',
];
const PHRASES = [
  'see you at noon',
  'the report is late',
  'please call me',
  'all is well',
  'the door is open',
  'bring the keys',
  'lunch is ready',
];
const SYMBOLS = ['AQX', 'BLU', 'CRN', 'DVT', 'ELM', 'FRO', 'GLD', 'HYX'];
const numbers = (draw: Draw, count: number, least: number, most: number) => Array.from({ length: count }, () => draw.int(least, most));
const price = (draw: Draw) => Number(`${draw.int(5, 400)}.${draw.pick([25, 5, 75])}`);

const files: Topic = {
  className: 'GorillaFileSystem',
  signatures: [
    'mkdir(dir_name: str)',
    'touch(file_name: str)',
    'echo(content: str, file_name: str = None)',
    'rm(file_name: str)',
    'cp(source: str, destination: str)',
    'mv(source: str, destination: str)',
  ],
  sentences: [
    { text: 'Make a directory "{dir_name}".', name: 'mkdir' },
    { text: 'Create an empty file "{file_name}".', name: 'touch' },
    { text: 'Write "{content}" into "{old}".', name: 'echo' },
    { text: 'Delete "{old}".', name: 'rm' },
    { text: 'Copy "{old}" to "{destination}".', name: 'cp' },
    { text: 'Rename "{old}" to "{destination}".', name: 'mv' },
  ],
  make(draw) {
    const [a, b, ...names] = draw.some(WORDS, 8);
    const old = [`${a}.txt`, `${b}.txt`];
    const contents = Object.fromEntries(old.map((name) => [name, { type: 'file', content: draw.pick(PHRASES) }]));
    return {
      config: JSON.stringify({ root: { [draw.pick(NAMES)]: { type: 'directory', contents } } }),
      pools: {
        old,
        dir_name: names.slice(0, 2),
        file_name: names.slice(2, 4).map((name) => `${name}.txt`),
        destination: names.slice(4).map((name) => `${name}.md`),
        content: PHRASES,
      },
    };
  },
};

const math: Topic = {
  className: 'MathAPI',
  signatures: [
    'add(a: float, b: float)',
    'subtract(a: float, b: float)',
    'multiply(a: float, b: float)',
    'percentage(part: float, whole: float)',
    'absolute_value(number: float)',
  ],
  sentences: [
    { text: 'Add {a:int} and {b:int}.', name: 'add' },
    { text: 'Subtract {b:int} from {a:int}.', name: 'subtract' },
    { text: 'Multiply {a:int} by {b:int}.', name: 'multiply' },
    { text: 'What percentage of {whole:int} is {part:int}?', name: 'percentage' },
    { text: 'What is the absolute value of {number:int}?', name: 'absolute_value' },
  ],
  make: (draw) => ({
    config: '{}',
    pools: {
      a: numbers(draw, 3, 2, 9999),
      b: numbers(draw, 3, 2, 999),
      whole: numbers(draw, 3, 100, 999),
      part: numbers(draw, 3, 2, 99),
      number: numbers(draw, 3, -9999, -2),
    },
  }),
};

const messages: Topic = {
  className: 'MessageAPI',
  signatures: [
    'send_message(receiver_id: str, message: str)',
    'delete_message(receiver_id: str)',
    'add_contact(user_name: str)',
    'message_login(user_id: str)',
  ],
  sentences: [
    { text: 'Log in as "{user_id}".', name: 'message_login' },
    { text: 'Send "{message}" to "{receiver_id}".', name: 'send_message' },
    { text: 'Delete the last message to "{receiver_id}".', name: 'delete_message' },
    { text: 'Add the contact "{user_name}".', name: 'add_contact' },
  ],
  make(draw) {
    const [a, b, c, d, ...others] = draw.some(NAMES, 7);
    const ids = [101, 102, 103, 104].map((n) => `USR${n}`);
    return {
      config: JSON.stringify({
        user_count: 4,
        user_map: Object.fromEntries([a, b, c, d].map((name, i) => [name, ids[i]])),
        inbox: [{ [ids[1]!]: draw.pick(PHRASES) }, { [ids[2]!]: draw.pick(PHRASES) }],
        message_count: 2,
        current_user: ids[0],
      }),
      pools: { user_id: [ids[3]!], receiver_id: [ids[1]!, ids[2]!], message: PHRASES, user_name: others },
    };
  },
};

const posts: Topic = {
  className: 'TwitterAPI',
  signatures: [
    'authenticate_twitter(username: str, password: str)',
    'post_tweet(content: str)',
    'retweet(tweet_id: int)',
    'comment(tweet_id: int, comment_content: str)',
    'follow_user(username_to_follow: str)',
    'unfollow_user(username_to_unfollow: str)',
  ],
  sentences: [
    { text: 'Log in as "{username}" with the password "{password}".', name: 'authenticate_twitter' },
    { text: 'Post "{content}".', name: 'post_tweet' },
    { text: 'Retweet tweet {tweet_id:int}.', name: 'retweet' },
    { text: 'Comment "{comment_content}" on tweet {tweet_id:int}.', name: 'comment' },
    { text: 'Follow "{username_to_follow}".', name: 'follow_user' },
    { text: 'Unfollow "{username_to_unfollow}".', name: 'unfollow_user' },
  ],
  make(draw) {
    const [username, a, b, ...others] = draw.some(NAMES, 6);
    const password = `${draw.pick(WORDS)}${draw.int(10, 99)}`;
    const ids = [draw.int(1, 9), draw.int(10, 99)];
    const tweets = Object.fromEntries(ids.map((id) => [id, { id, username: a, content: draw.pick(PHRASES), tags: [], mentions: [] }]));
    const state = { username, password, authenticated: draw.int(0, 1) === 1, tweets, comments: {}, retweets: {}, following_list: [a, b] };
    return {
      config: JSON.stringify({ ...state, tweet_counter: draw.int(100, 200) }),
      pools: {
        username: [username!],
        password: [password],
        content: PHRASES,
        comment_content: PHRASES,
        tweet_id: ids,
        username_to_follow: others,
        username_to_unfollow: [a!, b!],
      },
    };
  },
};

const tickets: Topic = {
  className: 'TicketAPI',
  signatures: [
    'ticket_login(username: str, password: str)',
    "create_ticket(title: str, description: str = '', priority: int = 1)",
    'close_ticket(ticket_id: int)',
    'resolve_ticket(ticket_id: int, resolution: str)',
  ],
  sentences: [
    { text: 'Log in as "{username}" with the password "{password}".', name: 'ticket_login' },
    { text: 'Open a ticket "{title}" with priority {priority:int}.', name: 'create_ticket' },
    { text: 'Close ticket {ticket_id:int}.', name: 'close_ticket' },
    { text: 'Resolve ticket {ticket_id:int} with "{resolution}".', name: 'resolve_ticket' },
  ],
  make(draw) {
    const [owner, username] = draw.some(NAMES, 2);
    const ids = [draw.int(1, 99), draw.int(100, 999)];
    const queue = ids.map((id) => ({
      id,
      title: draw.pick(WORDS),
      description: '',
      status: 'Open',
      priority: draw.int(1, 5),
      created_by: owner,
    }));
    return {
      config: JSON.stringify({ ticket_queue: queue, ticket_counter: draw.int(1000, 2000), current_user: draw.int(0, 1) ? owner : null }),
      pools: {
        username: [username!],
        password: [`${draw.pick(WORDS)}${draw.int(10, 99)}`],
        title: PHRASES,
        priority: [1, 2, 3, 4, 5],
        ticket_id: ids,
        resolution: PHRASES,
      },
    };
  },
};

const trading: Topic = {
  className: 'TradingBot',
  signatures: [
    'place_order(order_type: str, symbol: str, price: float, amount: int)',
    'cancel_order(order_id: int)',
    'add_to_watchlist(stock: str)',
    'remove_stock_from_watchlist(symbol: str)',
    'fund_account(amount: int)',
    'withdraw_funds(amount: int)',
  ],
  sentences: [
    { text: 'Buy {amount:int} shares of "{symbol}" at {price:float}.', name: 'place_order', fixed: { order_type: 'Buy' } },
    { text: 'Sell {amount:int} shares of "{symbol}" at {price:float}.', name: 'place_order', fixed: { order_type: 'Sell' } },
    { text: 'Cancel order {order_id:int}.', name: 'cancel_order' },
    { text: 'Watch "{stock}".', name: 'add_to_watchlist' },
    { text: 'Stop watching "{symbol}".', name: 'remove_stock_from_watchlist' },
    { text: 'Pay in {amount:int}.', name: 'fund_account' },
    { text: 'Pay out {amount:int}.', name: 'withdraw_funds' },
  ],
  make(draw) {
    const [a, b, c, d] = draw.some(SYMBOLS, 4);
    const stock = () => ({ price: price(draw), percent_change: 0.25, volume: 1.5, 'MA(5)': price(draw), 'MA(20)': price(draw) });
    const id = draw.int(10_000, 19_999);
    const order = { id, order_type: 'Buy', symbol: a, price: price(draw), amount: draw.int(1, 9), status: 'Open' };
    const account = { account_id: draw.int(100, 999), balance: 50_000.25, binding_card: 1_234_567 };
    return {
      config: JSON.stringify({
        orders: { [id]: order },
        account_info: account,
        authenticated: true,
        market_status: 'Open',
        order_counter: id + 1,
        stocks: Object.fromEntries([a, b, c, d].map((symbol) => [symbol, stock()])),
        watch_list: [a, b],
        transaction_history: [],
      }),
      pools: { symbol: [a!, b!], stock: [c!, d!], amount: numbers(draw, 3, 2, 90), price: [price(draw), price(draw)], order_id: [id] },
    };
  },
};

export const EARLY_TOPICS = { files, math, messages, posts, tickets, trading };
export { NAMES, WORDS, numbers };
