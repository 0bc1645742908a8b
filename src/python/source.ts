/**
 * @file Reads expressions of Python source as a tree. Nothing is run. A form that this code does not evaluate, such as a
 * comparison, becomes a node that holds only its text.
 */
import { type Constant, readNumber, readString, SourceError, stringAt } from './constants.ts';
import { type Node, RANK, RANKS } from './node.ts';
import { isKeyword, Scanner } from './scanner.ts';
import { unparse } from './unparse.ts';
import { ELLIPSIS } from './values.ts';

const COMPARISON = /(?:==|!=|<=|>=|<(?!<)|>(?!>)|(?:not\s+in|in|is\s+not|is)(?![\p{L}\p{N}_]))/uy;
const BINARY = /\*\*|\/\/|<<|>>|[-+*/%@&^|]/y;
const DEEPEST = 90;

/** Reads a text that is one expression. @throws {SourceError} */
export function readExpression(text: string): Node {
  const reader = new Reader(text, 0);
  const node = reader.expressions();
  reader.end();
  return node;
}

/** Reads the expression at a place of a source text. What follows it is ignored. @throws {SourceError} */
export const readExpressionAt = (text: string, at: number): Node => new Reader(text, at).expression();

class Reader extends Scanner {
  #depth = 0;

  end(): void {
    this.space(true);
    if (this.at < this.text.length) throw new SourceError('invalid syntax');
  }

  /**
   * An expression, or several with commas between them, which are a tuple.
   * @param starred whether elements of the tuple may begin with `*`
   */
  expressions(starred = false): Node {
    const next = () => (starred ? this.#starred() : this.expression());
    const first = next();
    if (!this.take(',')) {
      if (isStarred(first)) throw new SourceError('cannot use starred expression here');
      return first;
    }
    const items = [first];
    while (this.#more()) {
      items.push(next());
      if (!this.take(',')) break;
    }
    return { kind: 'tuple', items };
  }

  expression(): Node {
    if (++this.#depth > DEEPEST) throw new SourceError('too many nested parentheses');
    const node = this.#test();
    this.#depth -= 1;
    return node;
  }

  /** Whether an expression can follow. */
  #more(): boolean {
    this.space();
    return this.at < this.text.length && !/[)\]}:=\n]/.test(this.text[this.at]!);
  }

  #test(): Node {
    if (this.word('lambda')) {
      const start = this.at;
      while (this.text[this.at] !== ':' && this.at < this.text.length) this.at += 1;
      const parameters = this.text.slice(start, this.at).trim();
      this.need(':');
      return other(`lambda${parameters && ` ${parameters}`}: ${unparse(this.expression())}`, RANK.test);
    }
    const node = this.#or();
    if (!this.word('if')) return node;
    const condition = this.#or();
    if (!this.word('else')) throw new SourceError("expected 'else' after 'if' expression");
    return other(`${unparse(node, RANK.or)} if ${unparse(condition, RANK.or)} else ${unparse(this.expression(), RANK.test)}`, RANK.test);
  }

  #or(): Node {
    return this.#joined('or', RANK.or, () => this.#joined('and', RANK.and, () => this.#not()));
  }

  #joined(word: 'or' | 'and', rank: number, next: () => Node): Node {
    const nodes = [next()];
    while (this.word(word)) nodes.push(next());
    return nodes.length === 1 ? nodes[0]! : other(nodes.map((node) => unparse(node, rank + 1)).join(` ${word} `), rank);
  }

  #not(): Node {
    return this.word('not') ? { kind: 'unary', op: 'not', of: this.#not() } : this.#comparison();
  }

  #comparison(): Node {
    const first = this.#binary(RANKS['|']!);
    const parts: string[] = [];
    for (let op = this.match(COMPARISON); op !== undefined; op = this.match(COMPARISON))
      parts.push(op.replace(/\s+/g, ' '), unparse(this.#binary(RANKS['|']!), RANK.compare + 1));
    return parts.length ? other([unparse(first, RANK.compare + 1), ...parts].join(' '), RANK.compare) : first;
  }

  #binary(rank: number): Node {
    let left = this.#unary();
    for (;;) {
      const start = this.at;
      const op = this.match(BINARY);
      if (op === undefined || RANKS[op]! < rank || (op !== '**' && this.text[this.at] === '=')) {
        this.at = start;
        return left;
      }
      // `**` is read with its left side in #unary.
      left = { kind: 'binary', op, left, right: this.#binary(RANKS[op]! + 1) };
    }
  }

  #unary(): Node {
    this.space();
    const char = this.text[this.at];
    if (char === '-' || char === '+' || char === '~') {
      if (++this.#depth > DEEPEST) throw new SourceError('too many nested operators');
      this.at += 1;
      const of = this.#unary();
      this.#depth -= 1;
      return { kind: 'unary', op: char, of };
    }
    const left = this.word('await') ? other(`await ${unparse(this.#trailed(), RANK.atom)}`, 15) : this.#trailed();
    this.space();
    if (!this.text.startsWith('**', this.at)) return left;
    this.at += 2;
    return { kind: 'binary', op: '**', left, right: this.#unary() };
  }

  /** An atom with the calls, attributes and subscripts that follow it. */
  #trailed(): Node {
    let node = this.#atom();
    for (;;) {
      if (this.take('.')) {
        this.space();
        const name = this.name();
        if (name === undefined) throw new SourceError('invalid syntax');
        node = { kind: 'attribute', of: node, name };
      } else if (this.take('(')) node = this.#call(node);
      else if (this.take('[')) node = { kind: 'subscript', of: node, index: this.inside(']', () => this.#index()) };
      else return node;
    }
  }

  #index(): Node {
    const parts: string[] = [];
    let node: Node | undefined;
    let slice = false;
    do {
      node = this.#more() ? this.expression() : undefined;
      parts.push(node ? unparse(node) : '');
      slice ||= this.text[this.at] === ':';
    } while (this.take(':'));
    if (slice) return other(parts.join(':'), RANK.atom);
    if (!node) throw new SourceError('invalid syntax');
    if (!this.take(',')) return node;
    const items = [node];
    while (this.#more()) {
      items.push(this.expression());
      if (!this.take(',')) break;
    }
    return { kind: 'tuple', items };
  }

  #call(of: Node): Node {
    const args: Node[] = [];
    const keywords: { name: string | null; value: Node }[] = [];
    this.inside(')', () => {
      while (this.#more()) {
        const start = this.at;
        const name = this.name();
        if (this.text.startsWith('**', this.at)) {
          this.at += 2;
          keywords.push({ name: null, value: this.expression() });
        } else if (name !== undefined && this.equals()) {
          keywords.push({ name, value: this.expression() });
        } else {
          this.at = start;
          const value = this.#starred();
          if (keywords.length > 0 && !(keywords.every((one) => one.name !== null) && isStarred(value)))
            throw new SourceError('positional argument follows keyword argument');
          args.push(this.#comprehension(value, '(', ')') ?? value);
        }
        if (!this.take(',')) break;
      }
    });
    return { kind: 'call', of, args, keywords };
  }

  /** An expression, or `*` and an expression. */
  #starred(): Node {
    this.space();
    if (this.text[this.at] !== '*' || this.text[this.at + 1] === '*') return this.expression();
    this.at += 1;
    return other(`*${unparse(this.#binary(RANKS['|']!), RANKS['|'])}`, RANK.test);
  }

  /** A comprehension, whose element is read already. */
  #comprehension(element: Node, open: string, close: string): Node | undefined {
    const parts = [unparse(element)];
    while (this.word('for')) {
      const targets = [this.#binary(RANKS['|']!)];
      while (this.take(',')) targets.push(this.#binary(RANKS['|']!));
      if (!this.word('in')) throw new SourceError('invalid syntax');
      parts.push(`for ${targets.map((target) => unparse(target)).join(', ')} in ${unparse(this.#or())}`);
      while (this.word('if')) parts.push(`if ${unparse(this.#or())}`);
    }
    return parts.length > 1 ? other(`${open}${parts.join(' ')}${close}`, RANK.atom) : undefined;
  }

  #atom(): Node {
    this.space();
    const char = this.text[this.at] ?? '';
    if (this.take('(')) return this.inside(')', () => this.#parenthesis());
    if (this.take('[')) return this.inside(']', () => this.#items('list', '[', ']'));
    if (this.take('{')) return this.inside('}', () => this.#braces());
    if (this.text.startsWith('...', this.at)) {
      this.at += 3;
      return { kind: 'constant', value: ELLIPSIS, plain: false };
    }
    if (/\d/.test(char) || (char === '.' && /\d/.test(this.text[this.at + 1] ?? ''))) {
      const { node, end } = readNumber(this.text, this.at);
      this.at = end;
      return node;
    }
    if (stringAt(this.text, this.at)) return this.#strings();
    const name = this.name(true);
    if (name === undefined) throw new SourceError('invalid syntax');
    const value = { True: true, False: false, None: null }[name];
    if (value !== undefined) return { kind: 'constant', value, plain: true };
    if (isKeyword(name)) throw new SourceError('invalid syntax');
    return { kind: 'name', id: name };
  }

  /** Strings that follow each other are one string. */
  #strings(): Node {
    const parts: Constant[] = [];
    while (stringAt(this.text, this.at)) {
      const { node, end } = readString(this.text, this.at);
      this.at = end;
      parts.push(node);
      this.space();
    }
    if (parts.length === 1 && !parts[0]!.formatted) return parts[0]!;
    if (parts.some(({ formatted }) => formatted)) return other("f''", RANK.atom);
    if (parts.some(({ value }) => typeof value !== 'string')) throw new SourceError('bytes and strings do not mix here');
    return { kind: 'constant', value: parts.map(({ value }) => value as string).join(''), plain: false };
  }

  #parenthesis(): Node {
    if (!this.#more()) return { kind: 'tuple', items: [] };
    const node = this.expressions(true);
    return this.#comprehension(node, '(', ')') ?? node;
  }

  #items(kind: 'list' | 'set', open: string, close: string, first?: Node): Node {
    const items: Node[] = [];
    let next = first ?? (this.#more() ? this.#starred() : undefined);
    const comprehension = next && this.#comprehension(next, open, close);
    if (comprehension) return comprehension;
    while (next) {
      items.push(next);
      next = this.take(',') && this.#more() ? this.#starred() : undefined;
    }
    return { kind, items };
  }

  #braces(): Node {
    const entries: { key: Node | null; value: Node }[] = [];
    for (let first = true; this.#more(); first = false) {
      if (this.text.startsWith('**', this.at)) {
        this.at += 2;
        entries.push({ key: null, value: this.#binary(RANKS['|']!) });
      } else {
        const key = this.#starred();
        if (first && !this.take(':')) return this.#items('set', '{', '}', key);
        else if (!first) this.need(':');
        const value = this.expression();
        const comprehension = first && this.#comprehension(other(`${unparse(key)}: ${unparse(value)}`, RANK.test), '{', '}');
        if (comprehension) return comprehension;
        entries.push({ key, value });
      }
      if (!this.take(',')) break;
    }
    return { kind: 'dict', entries };
  }
}

const other = (text: string, rank: number): Node => ({ kind: 'other', text, rank });
const isStarred = (node: Node) => node.kind === 'other' && node.text.startsWith('*');
