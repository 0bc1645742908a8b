/** @file The list of domains, with one line for each. To ask something about them, use `registry.ts`. */
export { agent } from './agent/index.ts';
export { airline } from './airline/index.ts';
export { bookings } from './bookings/index.ts';
export { chat } from './chat/index.ts';
export { contacts } from './contacts/index.ts';
export { courses } from './courses/index.ts';
export { desk } from './desk/index.ts';
export { jobs } from './jobs/index.ts';
export { library } from './library/index.ts';
export { mock } from './mock/index.ts';
export { multiturn } from './multiturn/index.ts';
export { plans } from './plans/index.ts';
export { rentals } from './rentals/index.ts';
export { retail } from './retail/index.ts';
export { rooms } from './rooms/index.ts';
export { telecom } from './telecom/index.ts';
