/** @file JSON as Python's `json.dumps(value, ensure_ascii=False)` writes it. Chat templates have this form as `tojson`. */

/** The separators are `", "` and `": "`. Keys are in insertion order. Undefined fields are left out. */
export function toPythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => toPythonJson(item ?? null)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${toPythonJson(item)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}
