/** Runs `mua` in a new process, as a user does. Tests choose the browser, so that they test the same code on every computer. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function startMua(
  args: string[],
  env: Record<string, string> = {},
): { child: ChildProcess; done: Promise<Outcome>; line: () => Promise<string> } {
  const child = spawn(process.execPath, ['bin/mua.mjs', ...args], { env: { ...process.env, MUA_ON: 'browser', ...env } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const done = new Promise<Outcome>((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
  /** The first line on stdout. A server prints it when it is ready. */
  const line = () =>
    new Promise<string>((resolve, reject) => {
      child.stdout.on('data', () => stdout.includes('\n') && resolve(stdout.slice(0, stdout.indexOf('\n'))));
      void done.then(({ code }) => reject(new Error(`mua ${args[0]} ended with ${code}: ${stderr}`)));
    });
  return { child, done, line };
}

export const mua = (...args: string[]): Promise<Outcome> => startMua(args).done;
