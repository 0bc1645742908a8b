/** @file Separates the words of an answer from thoughts, and finds marks that are neither. All searches take linear time. */
import { THOUGHTS, UNKNOWN_MARKS, WRAPPERS } from './behaviours.ts';

/** Matches every mark of thoughts. The groups tell the marks apart: two for each kind, for where it opens and where it closes. */
const MARKS = new RegExp(THOUGHTS.map(([open, close]) => `(${source(open)})|(${source(close)})`).join('|'), 'g');

/** The pattern with its own choice of case, because one pattern holds all marks. */
function source({ source: text, flags }: RegExp): string {
  if (!flags.includes('i')) return text;
  return text.replace(/\\.|[a-z]/gi, (part) => (part.length > 1 ? part : `[${part.toLowerCase()}${part.toUpperCase()}]`));
}

export interface Words {
  /** The words outside of thoughts. */
  said: string;
  thoughts: string;
}

/**
 * The words outside of thoughts in known marks, and the thoughts. Null if thoughts do not end. A chat template can open thoughts in the
 * prompt, so words before a closing mark without an opening one are thoughts too.
 */
export function separateThoughts(text: string): Words | null {
  const channels = finalChannel(text);
  if (channels !== undefined) return channels;
  let said = '';
  const thoughts: string[] = [];
  let at = 0;
  let open: number | null = null;
  for (const match of text.matchAll(MARKS)) {
    const group = match.slice(1).findIndex((mark) => mark !== undefined);
    const [kind, closes] = [group >> 1, group % 2 === 1];
    // A mark of another kind inside of thoughts is a part of the thoughts.
    if (open !== null && (kind !== open || !closes)) continue;
    const words = text.slice(at, match.index);
    if (open !== null) thoughts.push(words);
    else if (closes) {
      thoughts.push(said + words);
      said = '';
    } else said += words;
    open = closes ? null : kind;
    at = match.index + match[0].length;
  }
  if (open !== null) return null;
  return { said: (said + text.slice(at)).replace(WRAPPERS, '').trim(), thoughts: joinThoughts(thoughts) };
}

/** The words outside of thoughts. Null if thoughts do not end. */
export const withoutThoughts = (text: string): string | null => separateThoughts(text)?.said ?? null;

export const joinThoughts = (thoughts: readonly string[]): string =>
  thoughts
    .map((thought) => thought.trim())
    .filter((thought) => thought !== '')
    .join('\n\n');

const FINAL = '<|channel|>final';
const CHANNEL_MARKS = /<\|channel\|>\w*|<\|(?:message|end)\|>|<\|start\|>\w*/g;

/**
 * The words in the final channel of gpt-oss (harmony), also if the server has dropped the control tokens. Null if that channel is
 * missing. Undefined if the text has no channels.
 */
function finalChannel(text: string): Words | null | undefined {
  if (text.includes('<|channel|>')) {
    const start = text.indexOf(FINAL);
    const at = text.indexOf('<|message|>', start);
    if (start < 0 || at < 0) return null;
    const said = text.slice(at + '<|message|>'.length).replace(/<\|(?:end|return)\|>\s*$/, '');
    return { said: said.trim(), thoughts: joinThoughts([text.slice(0, start).replace(CHANNEL_MARKS, '')]) };
  }
  if (!/^\s*(?:analysis|commentary|assistant(?:analysis|commentary|final))/.test(text)) return undefined;
  const [before, ...after] = text.split('assistantfinal');
  if (after.length > 0) return { said: after.join('assistantfinal').trim(), thoughts: joinThoughts([before!]) };
  return /^\s*(?:(?:analysis|commentary)(?=[A-Z])|assistant)/.test(before!) ? null : undefined;
}

/** The first mark in a customer's words that no person writes, such as a control token. Null if there is none. */
export function unknownMark(words: string): string | null {
  for (const pattern of UNKNOWN_MARKS) {
    const found = pattern.exec(words);
    if (found) return found[0].trim();
  }
  return null;
}
