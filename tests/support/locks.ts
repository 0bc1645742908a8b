/** @file Web Locks for Node. */

interface Lock {
  name: string;
  mode: LockMode;
}

/** Makes the Web Locks of one browser. All tabs of a test share them. Locks are granted in the order of the requests. */
export function lockManager(): LockManager {
  const held: Lock[] = [];
  const waiting: { lock: Lock; grant: () => void }[] = [];
  const isFree = ({ name, mode }: Lock, before = waiting) =>
    !before.some(({ lock }) => lock.name === name) &&
    !held.some((other) => other.name === name && (mode === 'exclusive' || other.mode === 'exclusive'));
  const grantNext = () => {
    const next = waiting.findIndex(({ lock }, i) => isFree(lock, waiting.slice(0, i)));
    if (next < 0) return;
    const [{ lock, grant }] = waiting.splice(next, 1) as [(typeof waiting)[number]];
    held.push(lock);
    grant();
    grantNext();
  };
  const request = async (name: string, ...rest: unknown[]) => {
    const callback = rest.at(-1) as (lock: Lock | null) => unknown;
    const { mode = 'exclusive', ifAvailable = false } = rest.length > 1 ? (rest[0] as LockOptions) : {};
    const lock = { name, mode };
    if (isFree(lock)) held.push(lock);
    else if (ifAvailable) return callback(null);
    else await new Promise<void>((grant) => waiting.push({ lock, grant }));
    try {
      return await callback(lock);
    } finally {
      held.splice(held.indexOf(lock), 1);
      grantNext();
    }
  };
  return { request, query: async () => ({ held: [...held], pending: [] }) } as unknown as LockManager;
}
