/** @file What the airline's tools showed, as far as the rules of the policy need it. Later results replace earlier ones. */
import { didNothing, isWrite, recordsIn, resultOf, textOf, type ToolEvent } from '../../../agent/layers/readings.ts';
import { isObject } from '../../../base/json.ts';
import type { Json } from '../../../records/json.ts';

export interface ShownReservation {
  owner: string;
  cabin: string;
  type: string;
  origin: string;
  destination: string;
  flights: { number: string; date: string; origin: string; destination: string }[];
  passengers: number;
  bags: number;
  paidBags: number;
  insured: boolean;
  created: string;
}

export interface ShownMember {
  membership: string;
  methods: Map<string, string>;
  reservations: readonly string[];
}

const number = (value: Json | undefined): number => (typeof value === 'number' ? value : Number.NaN);

export class AirlineFacts {
  readonly reservations = new Map<string, ShownReservation>();
  readonly users = new Map<string, ShownMember>();
  /** The status of a flight on a date, as `HAT001 2024-05-20`. */
  readonly status = new Map<string, string>();

  learn(event: ToolEvent): void {
    if (didNothing(event)) return;
    const { name, arguments: args } = event.call;
    const result = resultOf(event);
    if (name === 'get_flight_status') this.status.set(`${textOf(args.flight_number)} ${textOf(args.date)}`, textOf(result));
    for (const record of recordsIn(result)) {
      if (typeof record.reservation_id === 'string' && Array.isArray(record.flights)) this.#learnReservation(record.reservation_id, record);
      if (record.membership !== undefined) this.#learnUser(textOf(record.user_id) || textOf(args.user_id), record);
      if (typeof record.flight_number === 'string' && typeof record.status === 'string')
        this.status.set(`${record.flight_number} ${textOf(record.date) || textOf(args.date)}`, record.status);
    }
    const own = this.reservations.get(textOf(args.reservation_id));
    // tau-bench's tool does not write the new cabin, although it charges for it.
    if (own && isWrite(event) && name === 'update_reservation_flights') own.cabin = textOf(args.cabin);
  }

  #learnReservation(id: string, record: Record<string, Json>): void {
    this.reservations.set(id, {
      owner: textOf(record.user_id),
      cabin: textOf(record.cabin),
      type: textOf(record.flight_type),
      origin: textOf(record.origin),
      destination: textOf(record.destination),
      flights: (record.flights as Json[]).flatMap((flight) =>
        isObject(flight)
          ? [
              {
                number: textOf(flight.flight_number),
                date: textOf(flight.date),
                origin: textOf(flight.origin),
                destination: textOf(flight.destination),
              },
            ]
          : [],
      ),
      passengers: Array.isArray(record.passengers) ? record.passengers.length : Number.NaN,
      bags: number(record.total_baggages),
      paidBags: number(record.nonfree_baggages),
      insured: record.insurance === 'yes' || record.insurance === true,
      created: textOf(record.created_at),
    });
  }

  #learnUser(id: string, { membership, payment_methods: methods, reservations }: Record<string, Json>): void {
    this.users.set(id, {
      membership: textOf(membership),
      methods: new Map(
        isObject(methods) ? Object.entries(methods).map(([key, method]) => [key, isObject(method) ? textOf(method.source) : '']) : [],
      ),
      reservations: Array.isArray(reservations) ? reservations.map(textOf) : [],
    });
  }
}
