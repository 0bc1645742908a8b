/** @file Writes an expression as Python's `ast.unparse` does. */
import { repr } from './text.ts';
import { type Node, RANK, RANKS } from './node.ts';

/** @param least the lowest rank that needs no parentheses here */
export function unparse(node: Node, least = 0): string {
  const [text, rank] = written(node);
  return rank < least ? `(${text})` : text;
}

function written(node: Node): [text: string, rank: number] {
  switch (node.kind) {
    case 'constant':
      return [node.value === Infinity ? '1e309' : repr(node.value).replace(/^Ellipsis$/, '...'), RANK.atom];
    case 'name':
      return [node.id, RANK.atom];
    case 'attribute':
      return [`${unparse(node.of, RANK.atom)}${/^\d+$/.test(unparse(node.of)) ? ' ' : ''}.${node.name}`, RANK.atom];
    case 'call':
      return [
        `${unparse(node.of, RANK.atom)}(${[
          ...node.args.map((arg) => unparse(arg)),
          ...node.keywords.map(({ name, value }) => `${name === null ? '**' : `${name}=`}${unparse(value)}`),
        ].join(', ')})`,
        RANK.atom,
      ];
    case 'subscript': {
      const { index } = node;
      const inner = index.kind === 'tuple' && index.items.length > 1 ? index.items.map((item) => unparse(item)).join(', ') : unparse(index);
      return [`${unparse(node.of, RANK.atom)}[${inner}]`, RANK.atom];
    }
    case 'list':
      return [`[${node.items.map((item) => unparse(item)).join(', ')}]`, RANK.atom];
    case 'set':
      return [`{${node.items.map((item) => unparse(item)).join(', ')}}`, RANK.atom];
    case 'tuple':
      return [`(${node.items.map((item) => unparse(item)).join(', ')}${node.items.length === 1 ? ',' : ''})`, RANK.atom];
    case 'dict':
      return [
        `{${node.entries.map(({ key, value }) => (key ? `${unparse(key)}: ${unparse(value)}` : `**${unparse(value, RANKS['|'])}`)).join(', ')}}`,
        RANK.atom,
      ];
    case 'unary': {
      const rank = node.op === 'not' ? RANK.not : RANK.unary;
      return [`${node.op}${node.op === 'not' ? ' ' : ''}${unparse(node.of, rank)}`, rank];
    }
    case 'binary': {
      const rank = RANKS[node.op]!;
      const [left, right] = node.op === '**' ? [rank + 1, RANK.unary] : [rank, rank + 1];
      return [`${unparse(node.left, left)} ${node.op} ${unparse(node.right, right)}`, rank];
    }
    case 'other':
      return [node.text, node.rank];
  }
}
