/** @file Rows of the airline databases, and tau2's models of the rows. */
import { decimal, integer, listOf, mapOf, oneOf, optional, record, tagged, text } from '../exact/model.ts';
import type { Json } from '../../records/json.ts';

export interface Flight {
  flight_number: string;
  origin: string;
  destination: string;
  scheduled_departure_time_est: string;
  scheduled_arrival_time_est: string;
  dates: Record<string, FlightDate>;
}

export type FlightDate =
  | { status: 'available'; available_seats: Record<string, number>; prices: Record<string, number> }
  | { status: 'cancelled' | 'landed' | 'flying' | 'delayed' | 'on time' };

export interface Leg {
  flight_number: string;
  origin: string;
  destination: string;
  date: string;
  price: number;
}

export interface Payment {
  payment_id: string;
  amount: number;
}

/** The fields of type `Json` come from the arguments of a tool call. tau1 stores them and does not check their type. */
export interface Reservation {
  reservation_id: string;
  user_id: string;
  origin: Json;
  destination: Json;
  flight_type: Json;
  cabin: Json;
  flights: Leg[];
  passengers: Json;
  payment_history: Payment[];
  created_at: string;
  total_baggages: Json;
  nonfree_baggages: Json;
  insurance: Json;
  status?: 'cancelled' | null;
}

export type PaymentMethod =
  | { source: 'gift_card' | 'certificate'; id: string; amount: number }
  | { source: 'credit_card'; id: string; brand: string; last_four: string };

export interface User {
  payment_methods: Record<string, PaymentMethod>;
  reservations: string[];
}

export const CABINS = ['business', 'economy', 'basic_economy'] as const;
export const FLIGHT_TYPES = ['round_trip', 'one_way'] as const;
export const INSURANCE = ['yes', 'no'] as const;

const legModel = record({ flight_number: text, origin: text, destination: text, date: text, price: integer });
export const wantedFlightModel = record({ flight_number: text, date: text });
export const passengerModel = record({ first_name: text, last_name: text, dob: text });
export const paymentModel = record({ payment_id: text, amount: integer });
export const certificateModel = record({ source: oneOf('certificate'), id: text, amount: decimal });

export const reservationModel = record({
  reservation_id: text,
  user_id: text,
  origin: text,
  destination: text,
  flight_type: oneOf(...FLIGHT_TYPES),
  cabin: oneOf(...CABINS),
  flights: listOf(legModel),
  passengers: listOf(passengerModel),
  payment_history: listOf(paymentModel),
  created_at: text,
  total_baggages: integer,
  nonfree_baggages: integer,
  insurance: oneOf(...INSURANCE),
  status: optional(oneOf('cancelled')),
});

export const userModel = record({
  user_id: text,
  name: record({ first_name: text, last_name: text }),
  address: record({ address1: text, address2: optional(text), city: text, country: text, state: text, zip: text }),
  email: text,
  dob: text,
  payment_methods: mapOf(
    tagged('source', {
      credit_card: record({ source: text, id: text, brand: text, last_four: text }),
      gift_card: record({ source: text, id: text, amount: decimal }),
      certificate: certificateModel,
    }),
  ),
  saved_passengers: listOf(passengerModel),
  membership: oneOf('gold', 'silver', 'regular'),
  reservations: listOf(text),
});

const estimated = { estimated_departure_time_est: text, estimated_arrival_time_est: text };
const perCabin = mapOf(integer);

export const flightModel = record({
  flight_number: text,
  origin: text,
  destination: text,
  scheduled_departure_time_est: text,
  scheduled_arrival_time_est: text,
  dates: mapOf(
    tagged('status', {
      available: record({ status: text, available_seats: perCabin, prices: perCabin }),
      landed: record({ status: text, actual_departure_time_est: text, actual_arrival_time_est: text }),
      cancelled: record({ status: text }),
      delayed: record({ status: text, ...estimated }),
      flying: record({ status: text, actual_departure_time_est: text, estimated_arrival_time_est: text }),
      'on time': record({ status: text, ...estimated }),
    }),
  ),
});
