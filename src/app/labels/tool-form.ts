/** @file Converts the texts that a visitor types into the form of a tool to the arguments of a call. */
import type { Json } from '../../records/json.ts';
import { choiceText, type Field } from './tool-parameters.ts';

/** The content of a field: a text as it was typed, or a list or an object of contents. */
export type Draft = string | Draft[] | { [name: string]: Draft };
export type Drafts = Record<string, Draft>;

export function emptyDraft(field: Field): Draft {
  if (field.kind === 'list') return field.required ? [emptyDraft(field.item)] : [];
  return field.kind === 'object' ? emptyDrafts(field.fields) : '';
}

export function emptyDrafts(fields: readonly Field[]): Drafts {
  return Object.fromEntries(fields.map((field) => [field.name, emptyDraft(field)]));
}

export type Reading = { arguments: Record<string, Json> } | { problems: Record<string, string> };

/**
 * Reads the form. Returns the arguments, or the problems by the path of the field (`flights.0.date`).
 * @param exact whether texts keep the spaces around them
 */
export function readDrafts(fields: readonly Field[], drafts: Drafts, exact = false): Reading {
  // The server names the fields, and may choose the name __proto__.
  const problems = Object.create(null) as Record<string, string>;
  const read = readObject(fields, drafts, '', problems, exact);
  return Object.keys(problems).length > 0 ? { problems } : { arguments: read };
}

const MISSING = 'Fill this in. For an empty text write "".';

function readObject(
  fields: readonly Field[],
  drafts: Drafts,
  path: string,
  problems: Record<string, string>,
  exact: boolean,
): Record<string, Json> {
  const read: [string, Json][] = [];
  for (const field of fields) {
    const value = readField(
      field,
      Object.hasOwn(drafts, field.name) ? drafts[field.name]! : '',
      path ? `${path}.${field.name}` : field.name,
      problems,
      exact,
    );
    if (value !== undefined) read.push([field.name, value]);
  }
  return Object.fromEntries(read);
}

/** The value of a field; undefined if the field is empty or wrong. */
function readField(field: Field, draft: Draft, path: string, problems: Record<string, string>, exact: boolean): Json | undefined {
  if (field.kind === 'list') {
    const entries = Array.isArray(draft) ? draft : [];
    if (entries.length === 0 && !field.required) return undefined;
    return entries.map((entry, i) => readField(field.item, entry, `${path}.${i}`, problems, exact) ?? null);
  }
  if (field.kind === 'object') {
    const given = typeof draft === 'object' && !Array.isArray(draft) ? draft : {};
    if (!field.required && isBlank(given)) return undefined;
    return readObject(field.fields, given, path, problems, exact);
  }
  const typed = typeof draft === 'string' ? draft : '';
  const text = exact && field.kind === 'text' ? typed : typed.trim();
  if (text === '') {
    if (field.required) problems[path] = MISSING;
    return undefined;
  }
  const wrong = (expected: string): undefined => {
    problems[path] = `“${text.slice(0, 40)}” is not ${expected}.`;
    return undefined;
  };
  switch (field.kind) {
    case 'text':
      return text === '""' ? '' : text;
    case 'integer':
      return /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : wrong('a whole number');
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : wrong('a number');
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : wrong('true or false');
    case 'choice': {
      const choice = field.choices.find((value) => choiceText(value) === text);
      return choice === undefined ? wrong('one of the choices') : choice;
    }
    case 'json':
      try {
        return JSON.parse(text) as Json;
      } catch {
        return wrong('JSON');
      }
  }
}

function isBlank(draft: Draft): boolean {
  return typeof draft === 'string' ? draft.trim() === '' : Object.values(draft).every(isBlank);
}
