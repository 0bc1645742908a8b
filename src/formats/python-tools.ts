/** @file The tools of a domain as Python methods. TRL makes the schema of a tool from its type hints and its docstring. */
import type { Json } from '../records/json.ts';
import type { ToolSchema } from '../records/task.ts';
import { python } from './adapter-input.ts';

/** The tool that talks to the customer. `mua env-serve` has it in its lists of tools. */
export const RESPOND: ToolSchema = {
  type: 'function',
  function: {
    name: 'respond',
    description: 'Say something to the customer. Returns the customer’s answer.',
    parameters: { type: 'object', properties: { message: { type: 'string', description: 'The words.' } }, required: ['message'] },
  },
};

const HINTS: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', object: 'dict', array: 'list' };

/** The Python method of a tool. It calls `self._call`. */
export function method({ function: { name, description, parameters } }: ToolSchema): string {
  const { properties, required } = parameters;
  const names = [...required, ...Object.keys(properties).filter((property) => !required.includes(property))].filter(
    (property) => property in properties,
  );
  const of = (property: string) =>
    properties[property] as { type?: string; description?: string; enum?: Json[]; items?: { type?: string } };
  const hint = (property: string) => {
    const { type = 'string', items } = of(property);
    const own = HINTS[type] ?? 'str';
    const full = own === 'list' ? `list[${HINTS[items?.type ?? 'string'] ?? 'str'}]` : own;
    return required.includes(property) ? `${property}: ${full}` : `${property}: ${full} | None = None`;
  };
  const line = (text: string) => text.replace(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll('"""', "'''").trim();
  const documented = (property: string) => {
    const { description: words = property, enum: choices } = of(property);
    return `            ${property}: ${line(words)}${choices ? ` One of: ${choices.join(', ')}.` : ''}`;
  };
  const args = names.length === 0 ? [] : ['', '        Args:', ...names.map(documented)];
  return [
    '',
    `    def ${name}(${['self', ...names.map(hint)].join(', ')}) -> str:`,
    `        """${line(description)}`,
    ...args,
    '        """',
    `        return self._call(${[python(name), ...names.map((property) => `${property}=${property}`)].join(', ')})`,
    '',
  ].join('\n');
}
