/**
 * Loops that are written out before WGSL is compiled. WGSL has no attribute that unrolls a loop, and an array whose index is not a
 * constant may lie in memory instead of registers.
 */

/**
 * Replaces each `unroll (i < 4) { … }` by four blocks, in which `i` is 0u, 1u, 2u and 3u. Loops may be nested.
 * @throws Error if a loop has no end
 */
export function unroll(wgsl: string): string {
  const head = /\bunroll \((\w+) < (\d+)\) \{/.exec(wgsl);
  if (!head) return wgsl;
  const [all, name, count] = head as unknown as [string, string, string];
  const start = head.index + all.length;
  let end = start;
  for (let depth = 1; depth > 0; end++) {
    if (end === wgsl.length) throw new Error(`"${all}" has no end`);
    if (wgsl[end] === '{') depth++;
    else if (wgsl[end] === '}') depth--;
  }
  const body = wgsl.slice(start, end - 1);
  const copies = Array.from({ length: Number(count) }, (_, i) => `{${body.replace(new RegExp(`\\b${name}\\b`, 'g'), `${i}u`)}}`);
  return wgsl.slice(0, head.index) + unroll(copies.join('\n')) + unroll(wgsl.slice(end));
}

/** Joins the texts for each i from 0 to n - 1. */
export const repeat = (n: number, text: (i: number) => string, joint = '\n'): string =>
  Array.from({ length: n }, (_, i) => text(i)).join(joint);
