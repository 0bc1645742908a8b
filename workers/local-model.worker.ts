/** @file The worker of a text-generation model that plays customers in the tab. */
import * as comlink from 'comlink';
import { TextModelServer } from '../src/local/server.ts';

comlink.expose(new TextModelServer());
