/**
 * Counts the floats that a thread of a kernel holds, from the kernel's WGSL. A thread holds a variable from the end of its declaration
 * to its last use, and to the end of a loop that uses it again. A `let` counts only if it lives through a loop, because a compiler can
 * compute other values when they are needed. Integers do not count.
 */

interface Held {
  floats: number;
  mutable: boolean;
  from: number;
  to: number;
}
interface Loop {
  from: number;
  to: number;
}
interface Scope {
  names: Map<string, Held>;
  /** Where the `for` or `while` of the scope begins. */
  loop?: number;
}

const SCALARS = /^(dot|length|distance|f32|u32|i32|any|all|first_step|loop_steps)$/;

/** The largest number of floats that a thread holds at once in the function `main`, together with the functions that it calls. */
export function heldFloats(wgsl: string): number {
  const tokens: readonly string[] = wgsl.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, '').match(/[A-Za-z_]\w*|\d[\w.]*|[^\s\w]/g) ?? [];
  const aliases = new Map([...wgsl.matchAll(/alias (\w+) = (\w+);/g)].map(([, name, type]) => [name!, type!]));
  /** Floats of a value of a type, elements of arrays included. Integers have 0. */
  const sizeOf = (type: string): number => {
    const [, element, length] = /^array<(.+?)(?:,(\w+))?>$/.exec(type) ?? [];
    if (element) return sizeOf(element) * (length ? parseInt(length) : 1);
    const plain = aliases.get(type) ?? type;
    const [, columns, rows] = /^mat(\d)x(\d)f$/.exec(plain) ?? [];
    if (columns) return Number(columns) * Number(rows);
    return plain === 'f32' ? 1 : Number(/^vec(\d)f$/.exec(plain)?.[1] ?? 0);
  };
  const typeAt = (at: number): string => {
    if (tokens[at + 1] !== '<') return tokens[at]!;
    let end = at + 1;
    for (let depth = 0; ; end++) {
      if (tokens[end] === '<') depth++;
      if (tokens[end] === '>' && --depth === 0) return tokens.slice(at, end + 1).join('');
    }
  };
  /** Floats of an element of each array or uniform of the module, and of what each function returns. */
  const globals = new Map<string, number>();
  const functions = new Map<string, number>();
  for (const [i, token] of tokens.entries()) {
    if (token === 'var' && tokens[i + 1] === '<') {
      const name = tokens.indexOf('>', i) + 1;
      globals.set(tokens[name]!, sizeOf(typeAt(name + 2).replace(/^array<(.+?)(,\w+)?>$/, '$1')));
    }
    if (token === 'fn') functions.set(tokens[i + 1]!, i);
  }
  const bodyOf = (at: number): number => tokens.indexOf('{', at);
  const returned = (name: string): number => {
    const at = functions.get(name)!;
    const arrow = tokens.slice(at, bodyOf(at)).lastIndexOf('-');
    return arrow < 0 ? 0 : sizeOf(typeAt(at + arrow + 2));
  };
  const known = new Map<string, number>();

  function held(name: string): number {
    const cached = known.get(name);
    if (cached !== undefined) return cached;
    const start = bodyOf(functions.get(name)!);
    const scopes: Scope[] = [];
    const all: Held[] = [];
    const loops: Loop[] = [];
    const calls: { at: number; floats: number }[] = [];
    const find = (variable: string): Held | undefined => scopes.findLast(({ names }) => names.has(variable))?.names.get(variable);
    /** The floats of the expression at `at`, up to its end: the widest of its parts. */
    const widthOf = (at: number): number => {
      let most = 0;
      for (let i = at; ![';', ')', ','].includes(tokens[i]!) || i === at; i++) {
        const token = tokens[i]!;
        const next = tokens[i + 1]!;
        const close = (from: number): number => {
          let depth = 0;
          for (let j = from; ; j++) {
            if ('([{'.includes(tokens[j]!)) depth++;
            if (')]}'.includes(tokens[j]!) && --depth === 0) return j;
          }
        };
        let width = 0;
        if (token === '(') [width, i] = [widthOf(i + 1), close(i)];
        else if (next === '(') {
          const end = close(i + 1);
          if (functions.has(token)) width = returned(token);
          else if (SCALARS.test(token)) width = token === 'u32' || token === 'i32' ? 0 : 1;
          else if (token === 'bitcast') width = 4;
          else if (sizeOf(token) > 0 || /^vec\d[ui]$/.test(token)) width = sizeOf(token);
          else for (let j = i + 2; j < end; j++) if (tokens[j - 1] === '(' || tokens[j - 1] === ',') width = Math.max(width, widthOf(j));
          i = end;
        } else if (/^[A-Za-z_]/.test(token)) {
          width = Math.min(4, find(token)?.floats ?? globals.get(token) ?? 0);
          let indexed = 0;
          while (tokens[i + 1] === '[') [i, indexed] = [close(i + 1), indexed + 1];
          if (indexed > 1) width = Math.min(1, width);
        } else if (/^\d.*[.ef]/.test(token)) width = 1;
        if (tokens[i + 1] === '.' && /^[xyzw]+$/.test(tokens[i + 2] ?? '')) [width, i] = [Math.min(width, tokens[i + 2]!.length), i + 2];
        most = Math.max(most, width);
      }
      return most;
    };
    let pending: number | undefined;
    for (let i = start; ; i++) {
      const token = tokens[i]!;
      if (token === 'for' || token === 'while') pending = i;
      if (token === 'for') scopes.push({ names: new Map() }); // of the loop's own variable
      if (token === '{') {
        scopes.push({ names: new Map(), ...(pending !== undefined && { loop: pending }) });
        pending = undefined;
      } else if (token === '}') {
        const { loop } = scopes.pop()!;
        if (loop !== undefined) {
          loops.push({ from: loop, to: i });
          if (tokens[loop] === 'for') scopes.pop();
        }
        if (scopes.length === 0) break;
      } else if (token === 'var' || token === 'let') {
        const at = i + 2;
        const floats = tokens[at] === ':' ? sizeOf(typeAt(at + 1)) : tokens[at + 1] === 'array' ? sizeOf(typeAt(at + 1)) : widthOf(at + 1);
        const end = tokens.indexOf(';', i);
        const one = { floats, mutable: token === 'var', from: end, to: end };
        all.push(one);
        scopes.at(-1)!.names.set(tokens[i + 1]!, one);
      } else if (tokens[i - 1] !== '.') {
        const used = find(token);
        if (used) used.to = i;
        else if (functions.has(token) && tokens[i + 1] === '(') calls.push({ at: i, floats: held(token) });
      }
    }
    // Loops are in the order of their ends, so an inner loop comes before the loops around it.
    for (const one of all) for (const { from, to } of loops) if (one.from < from && one.to > from && one.to < to) one.to = to;
    const kept = all.filter((one) => one.floats > 0 && (one.mutable || loops.some(({ from }) => one.from < from && from < one.to)));
    const at = (place: number): number => kept.reduce((sum, { floats, from, to }) => sum + (from <= place && place <= to ? floats : 0), 0);
    const most = Math.max(0, ...kept.map(({ from }) => at(from)), ...calls.map((call) => at(call.at) + call.floats));
    known.set(name, most);
    return most;
  }
  return held('main');
}
