/** @file JSON as Python's `json.dumps(value, ensure_ascii=False)` writes it: what `tojson` gives in a chat template. */

/** `", "` and `": "` as separators, keys in insertion order; undefined fields are left out. */
export function toPythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => toPythonJson(item ?? null)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${toPythonJson(item)}`).join(', ')}}`;
  }
  return JSON.stringify(value);
}
