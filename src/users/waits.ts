/** @file What the customers of this thread wait for: an answer of a server, or the time until a request is repeated. */
import { Activities } from '../base/activities.ts';

export const serverWaits = new Activities();
