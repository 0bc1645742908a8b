/** @file Writes JSON like Python's `json.dumps(value, ensure_ascii=False)`. In chat templates the filter `tojson` has the same format. */

/** The separators are `", "` and `": "`. Keys are in insertion order. Fields with the value undefined are omitted. A bigint is an integer. */
export function toPythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => toPythonJson(item ?? null)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${toPythonJson(item)}`).join(', ')}}`;
  }
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return String(value);
  return JSON.stringify(value);
}
