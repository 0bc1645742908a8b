/** @file Web Locks for Node. */

/** Web Locks of one browser: every tab of a test asks this one. */
export function lockManager(): LockManager {
  const held = new Map<string, { name: string }>();
  const request = async (name: string, ...rest: unknown[]) => {
    const callback = rest.at(-1) as (lock: { name: string } | null) => unknown;
    if (held.has(name)) {
      if ((rest[0] as LockOptions).ifAvailable) return callback(null);
      throw new Error(`"${name}" is held already`);
    }
    const lock = { name };
    held.set(name, lock);
    try {
      return await callback(lock);
    } finally {
      held.delete(name);
    }
  };
  return { request, query: async () => ({ held: [...held.values()], pending: [] }) } as unknown as LockManager;
}
