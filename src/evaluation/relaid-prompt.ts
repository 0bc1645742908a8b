/** @file Other layouts and wordings of a system prompt, which say the same. */
import type { ToolSchema } from '../records/task.ts';

interface Prompt {
  policy: string;
  tools: readonly ToolSchema[];
}

const BULLET = /^\s*[-*] /;

/** Each changes one thing. Numbered lists stay as they are, because their order counts. */
const LAYOUTS: ((prompt: Prompt) => Prompt)[] = [
  ({ policy, tools }) => ({ policy: withBulletsReversed(policy), tools }),
  ({ policy, tools }) => ({ policy: policy.replace(/^#+ +(.+)$/gm, 'Section: $1'), tools }),
  ({ policy, tools }) => ({ policy: spaced(policy), tools }),
  ({ policy, tools }) => ({
    policy,
    tools: tools.map((tool) => ({ ...tool, function: { ...tool.function, description: `Purpose: ${tool.function.description}` } })),
  }),
];

/** The prompt in one of the layouts that change it. Neighbouring tasks have different layouts. */
export function relaidPrompt(prompt: Prompt, index: number): { policy: string; tools: ToolSchema[] } {
  const key = JSON.stringify(prompt);
  const changed = LAYOUTS.map((layout) => layout(prompt)).filter((other) => JSON.stringify(other) !== key);
  const { policy, tools } = changed[index % changed.length] ?? prompt;
  return { policy, tools: [...tools] };
}

/** Each list of bullets in reverse order. A bullet keeps the indented lines below it. */
function withBulletsReversed(policy: string): string {
  const lines = policy.split('\n');
  const turned: string[] = [];
  for (let i = 0; i < lines.length;) {
    const bullets: string[][] = [];
    for (; i < lines.length; i++) {
      const line = lines[i]!;
      if (/^[-*] /.test(line)) bullets.push([line]);
      else if (bullets.length > 0 && /^\s+\S/.test(line)) bullets.at(-1)!.push(line);
      else break;
    }
    turned.push(...bullets.reverse().flat());
    if (i < lines.length) turned.push(lines[i++]!);
  }
  return turned.join('\n');
}

/** A line for each sentence outside of lists, and other signs for bullets. */
const spaced = (policy: string): string =>
  policy
    .split('\n')
    .map((line) => (BULLET.test(line) ? line.replace(/[-*] /, '• ') : line.replace(/([a-z)][.!?]) +(?=[A-Z])/g, '$1\n')))
    .join('\n');
