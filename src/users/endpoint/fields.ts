/** @file Remembers which fields of a request a server refuses. Such a field gets another name, or it is left out. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { NAMED_ALTERNATIVES, REFUSABLE, REFUSES } from './behaviours.ts';
import type { ServerError } from './server-error.ts';

type Body = Record<string, unknown>;

export class RequestFields {
  /** The name of each refused field for each model. Null: the field is left out. */
  private readonly names = new Map<string, Map<string, string | null>>();

  /** @param extra fields that the visitor adds to each request. They replace others; null removes a field. */
  constructor(private readonly extra: Body = {}) {}

  /** The body of a request, with the names that the server takes. */
  write(model: string, request: Body): Body {
    const renamed = this.names.get(model);
    const own = Object.entries(request).flatMap(([field, value]) => {
      const name = renamed?.has(field) ? renamed.get(field)! : field;
      const isReplaced = namesOf(field).some((other) => other in this.extra);
      return name === null || isReplaced ? [] : [[name, value] as const];
    });
    return Object.fromEntries([...own, ...Object.entries(this.extra)].filter(([, value]) => value !== null && value !== undefined));
  }

  /**
   * Changes the field that the server refuses in `sent`.
   * @returns whether another request can succeed. It is false if the error names no field that the client may change.
   */
  refuse(model: string, sent: Body, error: ServerError): boolean {
    const refused = refusedField(model, sent, error, this.extra);
    if (!refused) return false;
    const { field, name } = refused;
    const names = this.names.get(model) ?? new Map<string, string | null>();
    this.names.set(model, names);
    // Another request may have changed the field in the meantime.
    if ((names.has(field) ? names.get(field) : field) !== name) return true;
    const named = (NAMED_ALTERNATIVES[field] ?? []).find((other) => mentions(error.words, other) >= 0);
    const [next = null] = name === field ? [...(named ? [named] : []), ...(REFUSABLE[field] ?? [])] : [];
    names.set(field, next);
    return true;
  }

  /** Sentences about the fields that the server refuses for a model. */
  changes(model: string): string[] {
    return [...(this.names.get(model) ?? [])].map(([field, name]) =>
      name === null ? `${field} is left out` : `${field} is sent as ${name}`,
    );
  }
}

const namesOf = (field: string): string[] =>
  field in REFUSABLE ? [field, ...REFUSABLE[field]!, ...(NAMED_ALTERNATIVES[field] ?? [])] : [field];

/** Where a text names a field, also in another spelling such as maxTokens; −1 if it does not. */
function mentions(text: string, field: string): number {
  return text.search(new RegExp(`(?<![\\w-])${field.split('_').join('[_-]?')}(?![\\w-])`, 'i'));
}

/** The field of `sent` that the error names first. The fields outside of the error's words count first. */
function refusedField(model: string, sent: Body, error: ServerError, extra: Body): { field: string; name: string } | null {
  const words = error.words.replace(new RegExp(`(?<![\\w-])${escapeRegExp(model)}(?![\\w-])`, 'g'), '');
  const sentNames = Object.keys(REFUSABLE).flatMap((field) =>
    namesOf(field)
      .filter((name) => name in sent && !(name in extra))
      .map((name) => ({ field, name })),
  );
  // The client chose these values itself, so any complaint about them is a reason to leave them out.
  const isOwn = ({ field }: { field: string }) =>
    field === 'seed' || field === 'stream' || field === 'response_format' || (field === 'temperature' && sent.temperature === 0);
  const structured = sentNames.filter(({ name }) => error.fields.includes(name));
  const [first] = sentNames
    .map((found) => ({ ...found, at: mentions(words, found.name) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const found = structured[0] ?? first;
  return found && (isOwn(found) || REFUSES.test(`${words} ${error.code}`)) ? found : null;
}
