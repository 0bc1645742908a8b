/** @file Does the work of a command in this process, on Dawn. */
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { nodeSession } from '../trainer/node/session.ts';
import { ROOT } from './build.ts';
import { CommandError, errorOfWork } from './errors.ts';
import { type Backend, usesGpu, withEndpoints, withKey, withServer } from './backend-job.ts';
import { contentOf, type JobFiles } from './job-files.ts';
import { modelInPage } from './model-page.ts';
import { doWork, type WorkFiles } from './work.ts';

export const workInNode: Backend = async ({ request, files, userEndpoint, agentKey, folders, progress }) => {
  const note = (text: string) => progress.note(`mua: ${text}`);
  try {
    const gpu = usesGpu(request) ? (await import('../trainer/node/dawn.ts')).dawn() : undefined;
    const spawn = () => modelInPage(progress, folders);
    const trainer = nodeSession({ models: join(ROOT, 'models'), spawn, ...(gpu && { gpu }) });
    await trainer.listenToActivities(progress.activity.bind(progress));
    if (gpu) {
      progress.phase('opening the GPU');
      const { state, message } = await trainer.engineInfo();
      if (state !== 'ready') throw new CommandError(`${message ?? 'the GPU is not available'} --on browser uses Chromium.`);
    }
    const result = await doWork(
      withServer(
        withEndpoints(request, (user) => withKey(user, userEndpoint)),
        agentKey,
      ),
      { trainer, files: localFiles(files), progress: progress.update.bind(progress), note, callable: (callback) => callback },
    );
    // Convert the result to JSON and back, as when a page sends it.
    return JSON.parse(JSON.stringify(result)) as unknown;
  } catch (error) {
    throw error instanceof CommandError ? error : errorOfWork(error as Error);
  } finally {
    progress.clear();
  }
};

const localFiles = (files: JobFiles): WorkFiles => {
  const read = (name: string) => contentOf(offered(files, name));
  return {
    read,
    content: read,
    weights: async (name) => {
      const offer = offered(files, name);
      return 'file' in offer ? openAsBlob(offer.file) : read(name);
    },
    async write(name, body) {
      const receive = files.receiver(name);
      if (!receive) throw new Error(`the file "${name}" is not expected`);
      await receive(typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength), name);
    },
  };
};

function offered(files: JobFiles, name: string) {
  const offer = files.offered(name);
  if (!offer) throw new Error(`the file "${name}" is not offered`);
  return offer;
}
