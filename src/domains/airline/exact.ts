/** @file The exact airline domains: that of tau-bench v1 and that of tau2-bench. */
import { makeExactDomain } from '../exact/make-domain.ts';
import { object, type Reader } from '../exact/model.ts';
import { TAU1, TAU2, type Rules } from './rules.ts';
import { flightModel, reservationModel, userModel } from './schema.ts';
import { airlineSchemas } from './tool-schemas.ts';
import { airlineTools } from './tools.ts';

function airline(rules: Rules, flight: Reader, reservation: Reader, user: Reader) {
  return makeExactDomain({
    name: 'airline',
    unknownTool: rules.unknownTool,
    tables: [
      { name: 'flights', read: flight },
      { name: 'reservations', read: reservation },
      { name: 'users', read: user },
    ],
    tools: airlineTools(rules),
    schemas: airlineSchemas(rules),
  });
}

/** tau1's records are kept as they are in the file. */
export const exactAirline = { tau1: airline(TAU1, object, object, object), tau2: airline(TAU2, flightModel, reservationModel, userModel) };
