/** Workers of a text-generation model, as the page starts them. A test gives their answers. */
import type { Generated, Generation, Outcome } from '../../src/local/api.ts';
import type { ModelWorker } from '../../src/local/spawn.ts';

/** A message of 3 tokens, after a prompt of 7. */
export const said = (text: string): Outcome<Generated> => ({ value: { text, isCut: false, promptTokens: 7, tokens: 3 } });

export type Generate = (request: Generation, stopped: Promise<void>) => Promise<Outcome<Generated>>;

/** A worker whose answers the test gives. */
export class FakeWorkers {
  readonly requests: Generation[] = [];
  spawned = 0;
  terminated = 0;
  running = 0;
  mostRunning = 0;
  load: (onDownload?: (loaded: number, total: number) => void) => Outcome<null> | Promise<Outcome<null>> = () => ({ value: null });
  die!: (reason: Error) => void;

  constructor(public generate: Generate) {}

  readonly spawn = (): ModelWorker => {
    this.spawned += 1;
    const death = new Promise<never>((_, reject) => (this.die = reject));
    death.catch(() => {});
    let stop = () => {};
    return {
      death,
      terminate: () => void (this.terminated += 1),
      model: {
        load: async (_, onDownload) => this.load(onDownload),
        generate: async (request) => {
          this.requests.push(request);
          this.running += 1;
          this.mostRunning = Math.max(this.mostRunning, this.running);
          const stopped = new Promise<void>((resolve) => (stop = resolve));
          try {
            return await this.generate(request, stopped);
          } finally {
            this.running -= 1;
          }
        },
        stop: async () => stop(),
      },
    };
  };
}
