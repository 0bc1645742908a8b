/** @file Answers the requests to the worker of a model. */
import type { LocalConfig } from '../records/user.ts';
import type { Generated, Generation, LocalModelWorker, Outcome } from './api.ts';
import { isOutOfMemory, LocalError } from './local-error.ts';
import { openModel } from './open.ts';
import { TextModel } from './text-model.ts';

export class TextModelServer implements LocalModelWorker {
  #model: TextModel | null = null;

  load(config: LocalConfig, onDownload?: (loaded: number, total: number) => void): Promise<Outcome<null>> {
    return outcome(async () => {
      this.#model = null;
      this.#model = await TextModel.load(config, await openModel(config, onDownload));
      return null;
    });
  }

  generate(request: Generation): Promise<Outcome<Generated>> {
    return outcome(() => this.#model!.generate(request));
  }

  async stop(): Promise<void> {
    this.#model?.stop();
  }
}

async function outcome<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    const { message } = error as Error;
    const kind = error instanceof LocalError ? error.kind : isOutOfMemory(error) ? 'memory' : 'device';
    // After memory ran out or the device failed, ONNX Runtime cannot be used again.
    return { failure: { kind, message, isFatal: kind === 'memory' || kind === 'device' } };
  }
}
