/** @file The trainer worker. It runs the model on the GPU, and the training loop. */
import * as Comlink from 'comlink';
import type { Environments } from '../src/environments/types.ts';
import { RunDatabase } from '../src/storage/database.ts';
import { OwnScenarios } from '../src/storage/own-scenarios.ts';
import type { TrainerApi } from '../src/trainer/api.ts';
import { knowing } from '../src/trainer/knowing.ts';
import { TrainerSession } from '../src/trainer/session.ts';
import { modelParts } from '../src/trainer/stored-models.ts';
import { remoteModels, RemoteUsers, type UserWorkerApi } from '../src/users/remote.ts';

let environments: Comlink.Remote<Environments>;
let userWorker: Comlink.Remote<UserWorkerApi>;
const database = new RunDatabase();

const own = new OwnScenarios();

const session = new TrainerSession({
  // Each method of a comlink proxy returns a promise, as Environments requires.
  get environments() {
    return environments as unknown as Environments;
  },
  users: (config) => RemoteUsers.create(userWorker, config),
  tabModels: remoteModels(() => userWorker),
  bundledModel: (name) => modelParts(database, name),
  database: () => database,
});

const api: TrainerApi = Object.assign(
  knowing(session, () => own.learn()),
  {
    ping() {},
    connect(environmentPort: MessagePort, userPort: MessagePort) {
      environments = Comlink.wrap(environmentPort);
      userWorker = Comlink.wrap(userPort);
      void userWorker.listenToWaits(Comlink.proxy((text: string) => session.waiting(text)));
    },
  },
);

Comlink.expose(api);
