/** Runs `mua` and notes when it writes to stderr. */
import { startMua } from './mua.ts';

/** Seconds from the start to each piece of stderr, and the seconds of the whole command. */
export interface Timed {
  code: number | null;
  stdout: string;
  stderr: string;
  times: number[];
  seconds: number;
  /** The longest time without a line on stderr, in seconds. */
  longest: number;
}

/** @param stop called again and again with the text of stderr, once there is some; if it returns true, the command gets SIGINT */
export async function timedMua(args: string[], env: Record<string, string> = {}, stop?: (stderr: string) => boolean): Promise<Timed> {
  const from = performance.now();
  const since = () => (performance.now() - from) / 1000;
  const { child, done } = startMua(args, env);
  const times: number[] = [];
  let [all, stopped] = ['', false];
  child.stderr!.on('data', (piece: Buffer) => {
    times.push(since());
    all += piece.toString();
  });
  const timer = setInterval(() => {
    if (all !== '' && !stopped && stop?.(all)) stopped = child.kill('SIGINT');
  }, 20);
  const outcome = await done;
  clearInterval(timer);
  const seconds = since();
  const marks = [0, ...times, seconds];
  return { ...outcome, times, seconds, longest: Math.max(...marks.slice(1).map((at, i) => at - marks[i]!)) };
}
