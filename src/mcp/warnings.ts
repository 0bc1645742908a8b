/** @file What a person should know of a tool before a model sees it. Names, descriptions and schemas of servers are untrusted. */
import { isObject } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import { hiddenCharacters, withoutHidden } from '../base/visible.ts';
import { codePoint, hasMarkup } from './text.ts';

/** A longer description fills the context of a small model, and hides instructions well. */
const LONG = 2000;
const LONG_SCHEMA = 10_000;
/** So many characters of a tool are searched for bad texts. Who writes more has a warning anyway. */
const READ = 100_000;
/** A schema with more references is not followed. */
const MOST_REFS = 200;
/** Names that every server of models accepts. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Words that speak to the model instead of describing the tool. */
const INSTRUCTIONS: readonly RegExp[] = [
  /\b(ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(previous|prior|above|earlier|all|other|your|any|the)\b[^.\n]{0,40}\b(instruction|prompt|message|rule|polic|guideline|context|tool)/i,
  /\b(do not|don't|never|without) (tell|telling|mention|mentioning|inform|informing|show|showing|reveal|revealing|ask|asking|notify|notifying)\b[^.\n]{0,30}\b(the )?(user|customer|human|person|anyone)/i,
  /\byou (are|must|should|have to|need to) (now |always |first |also |never |not )*(an?\b|act|call|use|read|send|include|pass|follow|obey|respond|reply|pretend|copy|forward|execute)/i,
  /\b(before|after|instead of|when(ever)?) (using|calling|invoking|you (use|call|invoke))\b[^.\n]{0,60}\b(tool|function|this|any other)\b/i,
  /<\/?\s*(important|system|secret|instructions?|admin|override|hidden)\b[^<>]{0,40}>/i,
  /\b(system prompt|jailbreak|developer mode|new instructions|hidden instructions?|as an ai\b)/i,
  /(~|\/home\/|\/root)\/?\.(ssh|aws|config|cursor|env|netrc|npmrc)\b|\bid_rsa\b/i,
];

export function duplicateNames(names: readonly string[]): Set<string> {
  const plain = (name: string) => name.normalize('NFKC').toLowerCase();
  const counts = new Map<string, number>();
  for (const name of names) counts.set(plain(name), (counts.get(plain(name)) ?? 0) + 1);
  return new Set(names.filter((name) => counts.get(plain(name))! > 1));
}

interface Seen {
  name: string;
  title: string | undefined;
  description: string;
  inputSchema: Json;
  duplicate: boolean;
  /** Number of characters that the description lost. */
  cut: number;
}

export function warningsOf({ name, title = '', description, inputSchema, duplicate, cut }: Seen): string[] {
  const places = firstOf([['name', name], ['title', title], ['description', description], ...textsOf(inputSchema)]);
  const found = (problem: string, wrong: (text: string) => boolean | string): string[] => {
    const hits = places.flatMap(([place, text]) => {
      const result = wrong(text);
      return result ? [`${place}${typeof result === 'string' ? ` (${result})` : ''}`] : [];
    });
    return hits.length > 0 ? [`${problem}: ${[...new Set(hits)].slice(0, 5).join(', ')}`] : [];
  };
  const length = JSON.stringify(inputSchema).length;
  return [
    ...(duplicate ? ['several tools have this name'] : []),
    ...(NAME.test(name) ? [] : ['the name is not 1 to 64 letters, digits, _ and -, so many models cannot call the tool']),
    ...found('hidden or control characters', (text) => [...new Set(hiddenCharacters(text).map(codePoint))].slice(0, 5).join(' ')),
    ...found('text that gives orders to the model', (text) => INSTRUCTIONS.some((pattern) => pattern.test(readable(text)))),
    ...found('markup of a chat template or of a tool call', (text) => hasMarkup(text) || hasMarkup(readable(text))),
    ...(description === '' ? ['there is no description'] : []),
    ...(description.length > LONG ? [`very long description: ${description.length.toLocaleString('en')} characters`] : []),
    ...(cut > 0 ? [`the description was cut: ${cut.toLocaleString('en')} characters are missing`] : []),
    ...(length > LONG_SCHEMA ? [`very long schema: ${length.toLocaleString('en')} characters`] : []),
    ...schemaWarnings(inputSchema),
  ];
}

/** The text as a model reads it: without hidden characters, with plain letters and single spaces. */
const readable = (text: string): string => withoutHidden(text).normalize('NFKC').replace(/\s+/g, ' ');

/** The texts up to the number of characters that are read. */
function firstOf(places: readonly [place: string, text: string][]): [place: string, text: string][] {
  let left = READ;
  return places.flatMap(([place, text]) => {
    const read = text.slice(0, left);
    left -= read.length;
    return read ? [[place, read] as [string, string]] : [];
  });
}

/** All texts of a schema, names of properties and values of choices included. */
function textsOf(value: Json, path = 'inputSchema'): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (Array.isArray(value)) return value.flatMap((child, i) => textsOf(child, `${path}[${i}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) => [[path, key] as [string, string], ...textsOf(child as Json, `${path}.${key}`)]);
}

const FLAT = new Set(['string', 'integer', 'number', 'boolean']);

/** What a flat list of parameters cannot say, so that a view must map it. */
function schemaWarnings(schema: Json): string[] {
  if (!isObject(schema)) return ['the schema is not an object'];
  const loops = loopsOf(schema);
  if (loops.length > 0) return [`$ref loops: ${loops.join(', ')}`];
  const union = ['anyOf', 'oneOf', 'allOf', 'not', 'if'].filter((key) => key in schema);
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const nested = Object.entries(properties).flatMap(([name, property]) => (isFlat(property) ? [] : [name]));
  const missing = required.filter((name) => !Object.hasOwn(properties, String(name)));
  return [
    ...(union.length > 0 ? [`the schema uses ${union.join(', ')}, which a flat tool cannot say`] : []),
    ...(nested.length > 0 ? [`parameters that a flat tool cannot say: ${nested.join(', ')}`] : []),
    ...(missing.length > 0 ? [`required parameters without a schema: ${missing.join(', ')}`] : []),
  ];
}

/** A text, a number, a choice of them, or a list of them. */
function isFlat(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if ('$ref' in schema || 'oneOf' in schema || 'allOf' in schema || 'not' in schema) return false;
  if (Array.isArray(schema.anyOf)) return isOptional(schema.anyOf);
  if (Array.isArray(schema.enum) || 'const' in schema) return true;
  if (schema.type === 'array')
    return schema.items === undefined || (isObject(schema.items) && schema.items.type !== 'array' && isFlat(schema.items));
  return typeof schema.type === 'string' && FLAT.has(schema.type);
}

/** Python's libraries write an optional value so: `anyOf: [{type: string}, {type: null}]`. */
const isOptional = (choices: readonly unknown[]): boolean =>
  choices.length === 2 && choices.some((choice) => isObject(choice) && choice.type === 'null') && choices.some(isFlat);

/** The `$ref`s of a schema that lead back to a place around them, or to themselves. */
function loopsOf(root: Record<string, unknown>): string[] {
  const targets = new Map<string, unknown>();
  const refsOf = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(refsOf);
    if (!isObject(value)) return [];
    const own = typeof value.$ref === 'string' ? [value.$ref] : [];
    return [...own, ...Object.values(value).flatMap(refsOf)];
  };
  const loops = new Set<string>();
  const done = new Set<string>();
  const follow = (ref: string, open: readonly string[]): void => {
    if (open.some((other) => other === ref || other.startsWith(`${ref}/`)) || ref === '#') return void loops.add(ref);
    if (done.has(ref)) return;
    targets.set(ref, targets.get(ref) ?? atPointer(root, ref));
    for (const next of refsOf(targets.get(ref))) follow(next, [...open, ref]);
    done.add(ref);
  };
  const refs = new Set(refsOf(root));
  if (refs.size > MOST_REFS) return [`not searched, as there are more than ${MOST_REFS} references`];
  for (const ref of refs) follow(ref, []);
  return [...loops].slice(0, 5);
}

/** The part of a schema that a local reference such as `#/$defs/node` names. */
function atPointer(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined;
  return ref
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, part) => (isObject(value) || Array.isArray(value) ? (value as Record<string, unknown>)[part] : undefined),
      root,
    );
}
