/** @file The airline's tools as JSON schemas for the model. */
import { tau1Schema, tau2Schema, type Parameter, type ToolText } from '../../environments/tool-schema.ts';
import type { ToolSchema } from '../../records/task.ts';
import type { Rules } from './rules.ts';
import { CABINS, FLIGHT_TYPES, INSURANCE } from './schema.ts';

export function airlineSchemas({ version, tools }: Rules): ToolSchema[] {
  const texts = toolTexts(version === 1);
  return tools.map((name) => (version === 1 ? tau1Schema : tau2Schema)({ name, ...texts[name]! }));
}

/** The texts of the tools. tau1 lists choices in another order and without descriptions, and allows fractions of a dollar. */
function toolTexts(tau1: boolean): Record<string, Omit<ToolText, 'name'>> {
  const reservation: Parameter = { name: 'reservation_id', type: 'string', description: "The reservation, such as 'AB12CD'." };
  const user: Parameter = { name: 'user_id', type: 'string', description: "The customer, such as 'ada_brown_1234'." };
  const airport = (name: string, description: string): Parameter => ({
    name,
    type: 'string',
    description: `${description}: its airport in three letters, such as 'SFO'.`,
  });
  const route = [airport('origin', 'Where the journey begins'), airport('destination', 'Where it ends')];
  const date: Parameter = { name: 'date', type: 'string', description: "The day of departure, such as '2024-05-16'." };
  const choice = (name: string, values: readonly string[], description: string): Parameter =>
    tau1 ? { name, type: { choice: values.toReversed() } } : { name, type: { choice: values }, description };
  const cabin = choice('cabin', CABINS, 'The cabin, the same for all flights.');
  const flights = (description: string): Parameter => ({
    name: 'flights',
    description,
    type: {
      records: 'FlightInfo',
      fields: [{ name: 'flight_number', type: 'string', description: "Flight number, such as 'HAT123'." }, date],
    },
  });
  const passengers: Parameter = {
    name: 'passengers',
    description: 'The passengers.',
    type: {
      records: 'Passenger',
      fields: [
        { name: 'first_name', type: 'string', description: 'First name.' },
        { name: 'last_name', type: 'string', description: 'Last name.' },
        { name: 'dob', type: 'string', description: "Date of birth, such as '1990-01-31'." },
      ],
    },
  };
  const money = tau1 ? 'number' : 'integer';
  const payment: Parameter = {
    name: 'payment_id',
    type: 'string',
    description: "A payment method of the customer's profile, such as 'gift_card_1234567'.",
  };
  const bags = (whose: string): Parameter[] => [
    { name: 'total_baggages', type: 'integer', description: `How many checked bags ${whose} has.` },
    { name: 'nonfree_baggages', type: 'integer', description: 'How many of them cost extra.' },
  ];
  return {
    book_reservation: {
      description: 'Book a journey.',
      parameters: [
        user,
        ...route,
        tau1
          ? { name: 'flight_type', type: { choice: FLIGHT_TYPES.toReversed() } }
          : { name: 'flight_type', type: { choice: FLIGHT_TYPES }, description: 'One way or round trip.' },
        cabin,
        flights('The flights, each with its day.'),
        passengers,
        {
          name: 'payment_methods',
          description: 'How it is paid; the amounts must add up to the price.',
          type: { records: 'Payment', fields: [payment, { name: 'amount', type: money, description: 'Dollars paid with it.' }] },
        },
        ...bags('the journey'),
        tau1
          ? { name: 'insurance', type: { choice: INSURANCE } }
          : { name: 'insurance', type: { choice: INSURANCE }, description: 'Whether travel insurance is wanted.' },
      ],
    },
    calculate: {
      description: 'Evaluate an arithmetic expression.',
      parameters: [
        {
          name: 'expression',
          type: 'string',
          description: "Numbers, + - * / and parentheses, such as '2 * (3 + 4)'; the result is rounded to cents.",
        },
      ],
    },
    cancel_reservation: { description: 'Cancel a reservation as a whole.', parameters: [reservation] },
    get_flight_status: {
      description: 'Tell the status of a flight.',
      parameters: [{ name: 'flight_number', type: 'string', description: "Flight number, such as 'HAT123'." }, date],
    },
    get_reservation_details: { description: 'Show a reservation.', parameters: [reservation] },
    get_user_details: { description: "Show a customer's profile, with payment methods and reservations.", parameters: [user] },
    list_all_airports: { description: 'List the airports with their cities.', parameters: [] },
    search_direct_flight: { description: 'Find flights without a stop on a day.', parameters: [...route, date] },
    search_onestop_flight: { description: 'Find connections with one stop on a day.', parameters: [...route, date] },
    send_certificate: {
      description: 'Give a customer a travel certificate. Use it with care.',
      parameters: [user, { name: 'amount', type: money, description: 'Its worth in dollars.' }],
    },
    think: {
      description: 'Note a thought; it changes nothing and tells nothing new.',
      parameters: [{ name: 'thought', type: 'string', description: 'The thought.' }],
    },
    transfer_to_human_agents: {
      description: 'Hand over to a human, when the customer asks for one or policy and tools leave no way to help.',
      parameters: [{ name: 'summary', type: 'string', description: 'What the customer wants.' }],
    },
    update_reservation_baggages: {
      description: 'Change the bags of a reservation.',
      parameters: [reservation, ...bags('the reservation'), payment],
    },
    update_reservation_flights: {
      description: 'Change the flights or the cabin of a reservation.',
      parameters: [reservation, cabin, flights('All flights of the reservation as it shall be, unchanged ones too.'), payment],
    },
    update_reservation_passengers: {
      description: 'Change the passengers of a reservation; their number must stay.',
      parameters: [reservation, passengers],
    },
  };
}
