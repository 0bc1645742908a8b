/** @file What goes on now, in words, for whoever shows it. Several things can go on at once: the newest one is shown. */

/** Something that goes on. */
export interface Activity {
  /** Says it in new words, for example with a new count. */
  now(text: string): void;
  end(): void;
}

export class Activities {
  /** The texts, the newest last. */
  readonly #open = new Map<Activity, string>();
  #told = '';
  #tell: (text: string) => void = () => {};

  /** From now on, `tell` gets each new text, and '' when nothing goes on. It replaces the listener before. */
  listen(tell: (text: string) => void): void {
    this.#tell = tell;
    this.#told = '';
    this.#show();
  }

  begin(text: string): Activity {
    const activity: Activity = {
      now: (newer) => {
        if (!this.#open.has(activity)) return;
        this.#open.delete(activity); // it becomes the newest
        this.#open.set(activity, newer);
        this.#show();
      },
      end: () => {
        this.#open.delete(activity);
        this.#show();
      },
    };
    this.#open.set(activity, text);
    this.#show();
    return activity;
  }

  /** @returns what `work` returns @throws what it throws */
  async during<T>(text: string, work: (activity: Activity) => Promise<T>): Promise<T> {
    const activity = this.begin(text);
    try {
      return await work(activity);
    } finally {
      activity.end();
    }
  }

  #show(): void {
    const text = [...this.#open.values()].at(-1) ?? '';
    if (text === this.#told) return;
    this.#told = text;
    this.#tell(text);
  }
}
