/** @file What the classes of ACEBench have in common. Their texts and some of their rules depend on the language. */
import { dictFor, itemOf } from '../../../python/operations.ts';
import { lower } from '../../../python/strings.ts';
import { deepCopy, type Dict, dict, equal, type Value } from '../../../python/values.ts';

export { f } from '../../../python/strings.ts';

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];

/** An object of one of the classes. */
export interface Api {
  attributes: Record<string, Value>;
  /** Each method gets a value for each of its parameters. */
  methods: Record<string, (...args: Value[]) => Value>;
}

export interface ApiContext {
  language: Language;
  /** The attributes of a new object. They belong to the object, which may change them. */
  own: Record<string, Value>;
  /** The text in the language of the object. */
  text: (en: string, zh: string) => string;
}

export interface ApiClass {
  /** The attributes of a new object that the data must have. */
  attributes: readonly string[];
  /** Those of the attributes that are compared with the ground truth. */
  saved: readonly string[];
  /** Whether it inherits from `BaseApi`: then it has the attributes `wifi` and `logged_in`, and two more methods. */
  phone: boolean;
  /** For each method its parameters with their defaults, as in Python. */
  signatures: Readonly<Record<string, string>>;
  create(context: ApiContext): Api['methods'];
}

/** The result of a call that worked or failed, with more fields if it worked. */
export const status = (done: boolean, message: string, more: Record<string, Value> = {}): Dict => dict({ status: done, message, ...more });

/** The methods that every class of the phone has. */
export const PHONE_SIGNATURES = { turn_on_wifi: '', login_device: '' } as const;

export function phoneMethods({ own, text }: ApiContext): Api['methods'] {
  return {
    turn_on_wifi() {
      own.wifi = true;
      return status(true, text('Wi-Fi has been turned on', 'wifi已经打开'));
    },
    login_device() {
      own.logged_in = true;
      return status(true, text('Device has been logged in', '设备已经登录'));
    },
  };
}

/** Sets what the config of `BaseApi` says. Upstream reads a class's own config too, but then overwrites it. */
export function loadPhone(own: Record<string, Value>, config: Value): void {
  const given = dictFor('get', config);
  const usual: Record<string, Value> = { wifi: false, logged_in: true, ...('logged_in_users' in own && { logged_in_users: [] }) };
  for (const [name, value] of Object.entries(usual)) own[name] = given.has(name) ? deepCopy(given.get(name)!) : value;
}

export const isOff = (value: Value): boolean => equal(value, false);

/** Python's `keyword.lower() in text.lower()`. */
export function hasWord(text: Value, keyword: Value): boolean {
  const wanted = lower(keyword);
  return lower(text).includes(wanted);
}

/** A dict of some fields of a row. */
export const fieldsOf = (row: Value, names: readonly string[]): Dict =>
  dict(Object.fromEntries(names.map((name) => [name, itemOf(row, name)])));
