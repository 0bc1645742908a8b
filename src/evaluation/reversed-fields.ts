/** @file Turns the fields of JSON objects around, as a text, so that numbers and spaces stay as they are. */

/** The JSON text with the fields of each object in reverse order. Any other text stays as it is. */
export function reversedFields(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return text;
  } catch {
    return text;
  }
  return reversed(text);
}

/** @param json a valid JSON value, perhaps between spaces */
function reversed(json: string): string {
  const parts = /^(\s*)([[{])(.*)([\]}])(\s*)$/s.exec(json);
  if (!parts) return json;
  const [, before, open, inside, close, after] = parts as unknown as [string, string, string, string, string, string];
  const fields = split(inside, ',');
  if (open === '[') return before + open + fields.map(reversed).join(',') + close + after;
  const turned = fields.map((field) => {
    const [name = '', ...value] = split(field, ':');
    return value.length === 0 ? field : `${name.trim()}:${reversed(value.join(':'))}`.trimEnd();
  });
  // The spaces before a field stay at their place.
  const spaces = fields.map((field) => /^\s*/.exec(field)![0]);
  return (
    before +
    open +
    turned
      .reverse()
      .map((field, i) => spaces[i]! + field)
      .join(',') +
    close +
    after
  );
}

/** Splits at a character that is outside of texts, lists and objects. */
function split(text: string, at: string): string[] {
  const parts: string[] = [];
  let [depth, quoted, from] = [0, false, 0];
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (quoted && character === '\\') i++;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && '[{'.includes(character)) depth++;
    else if (!quoted && ']}'.includes(character)) depth--;
    else if (!quoted && depth === 0 && character === at) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return [...parts, text.slice(from)];
}
