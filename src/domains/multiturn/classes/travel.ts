/** @file `TravelAPI`: flights, bookings and credit cards. */
import { divide, contains, less, multiply, setItem, itemOf, dictFor, add, subtract, textFor, iterate } from '../../../python/operations.ts';
import { float, round } from '../../../python/conversions.ts';
import { PyRandom } from '../../../python/random.ts';
import { parseTime } from '../../../python/strings.ts';
import { repr } from '../../../python/text.ts';
import { checkHashable, deepCopy, type Dict, dict, equal, PyError, type Value } from '../../../python/values.ts';
import { type ApiClass, attributesFrom, error, f, seedOf } from './api.ts';

const FACTORS = dict({ economy: 1n, business: 2n, first: 5n });
const ATTRIBUTES = [
  'credit_card_list',
  'booking_record',
  'access_token',
  'token_type',
  'token_expires_in',
  'token_scope',
  'user_first_name',
  'user_last_name',
  'budget_limit',
];
const INVOICED = ['travel_date', 'travel_from', 'travel_to', 'travel_class', 'travel_cost', 'transaction_id'];

const valueError = (message: string) => new PyError('ValueError', message);
const isValueError = (cause: unknown): cause is PyError => cause instanceof PyError && cause.kind === 'ValueError';

export const travelApi: ApiClass = {
  signatures: {
    authenticate_travel: 'client_id, client_secret, refresh_token, grant_type, user_first_name, user_last_name',
    travel_get_login_status: '',
    get_budget_fiscal_year: 'lastModifiedAfter=None, includeRemoved=None',
    register_credit_card: 'access_token, card_number, expiration_date, cardholder_name, card_verification_number',
    get_flight_cost: 'travel_from, travel_to, travel_date, travel_class',
    get_credit_card_balance: 'access_token, card_id',
    book_flight: 'access_token, card_id, travel_date, travel_from, travel_to, travel_class',
    retrieve_invoice: 'access_token, booking_id=None, insurance_id=None',
    get_booking_history: 'access_token',
    list_all_airports: '',
    cancel_booking: 'access_token, booking_id',
    compute_exchange_rate: 'base_currency, target_currency, value',
    verify_traveler_information: 'first_name, last_name, date_of_birth, passport_number',
    set_budget_limit: 'access_token, budget_limit',
    get_nearest_airport_by_city: 'location',
    purchase_insurance: 'access_token, insurance_type, booking_id, insurance_cost, card_id',
    contact_customer_support: 'booking_id, message',
    get_all_credit_cards: '',
  },
  create(context) {
    const { tables, shared, longContext } = context;
    const random = new PyRandom(seedOf(context, 'TravelAPI', 141053n));
    const own = attributesFrom(context, 'TravelAPI', ATTRIBUTES);
    own.long_context = longContext;
    const cards = dictFor('keys', own.credit_card_list!);
    const bookings = dictFor('keys', own.booking_record!);
    if (longContext) {
      addMissing(cards, shared.filler('CREDIT_CARD_EXTENSION'));
      addMissing(bookings, shared.filler('BOOKING_RECORD_EXTENSION'));
    }
    const id = (least: bigint, most: bigint) => String(random.randint(least, most));

    /** Why the token is refused. Null if it is right. A token of None is right before the login. */
    function refusal(token: Value): string | null {
      if (equal(own.token_expires_in!, 0n)) return 'Token expired';
      return equal(token, own.access_token!) ? null : 'Invalid access token';
    }

    /** A method whose first argument is the token. `failed` makes the result of a refused token. */
    const withToken =
      (work: (...args: Value[]) => Value, failed = (text: string): Value => error(text)) =>
      (token?: Value, ...args: Value[]): Value => {
        const reason = refusal(token!);
        return reason === null ? work(...args) : failed(reason);
      };
    const failed = (status: string) => (text: string) => dict({ [status]: false, error: text });

    /** @throws {PyError} ValueError without a route, or for an unknown class */
    function costOf(from: Value, to: Value, date: Value, travelClass: Value): { cost: number; all: number[] } {
      for (const place of [from, to]) checkHashable(place);
      const route = tables.routes.find(([a, b]) => equal(a!, from) && equal(b!, to));
      if (!route) throw valueError('No available route for the given airports.');
      const factor = iterate(FACTORS).find((name) => equal(name, travelClass));
      if (factor === undefined) throw valueError('Invalid travel class. Options are: economy, business, first.');
      const digits = iterate(date).flatMap((char) => (/^\d$/.test(textFor('isdigit', char)) ? [Number(char)] : []));
      const twice = digits.reduce((sum, digit) => sum + digit, 0) % 2 === 0 ? 2n : 1n;
      const price = ([, , base]: Value[]) => float(multiply(multiply(base!, FACTORS.get(factor)!), twice));
      return { cost: price(route), all: longContext ? tables.routes.map(price) : [price(route)] };
    }

    const bookingFailed = failed('booking_status');
    function book(cardId: Value, date: Value, from: Value, to: Value, travelClass: Value): Value {
      const card = cards.get(cardId);
      if (card === undefined) return bookingFailed('Card not registered');
      if (!contains(card, 'balance')) return bookingFailed('Balance not found');
      if (!contains(tables.airports, from)) return bookingFailed(f`Invalid departure airport code: ${from}`);
      if (!contains(tables.airports, to)) return bookingFailed(f`Invalid destination airport code: ${to}`);
      try {
        parseTime(date, '%Y-%m-%d');
      } catch (cause) {
        if (isValueError(cause)) return bookingFailed('Invalid date format. Use YYYY-MM-DD.');
        throw cause;
      }
      // Upstream prints a set here, whose order differs from run to run.
      if (!FACTORS.has(travelClass)) return bookingFailed("Invalid travel class. Must be one of {'economy', 'business', 'first'}");
      let cost: number;
      try {
        ({ cost } = costOf(from, to, date, travelClass));
      } catch (cause) {
        if (isValueError(cause)) return bookingFailed(cause.message);
        throw cause;
      }
      const balance = itemOf(card, 'balance');
      if (less(balance, cost)) return bookingFailed('Insufficient funds');
      if (own.budget_limit !== null && less(balance, own.budget_limit!)) return bookingFailed('Balance is less than budget limit');
      setItem(card, 'balance', subtract(balance, cost));
      const bookingId = id(1000000n, 9999999n);
      const transactionId = id(10000000n, 99999999n);
      const booking = {
        card_id: cardId,
        travel_date: date,
        travel_from: from,
        travel_to: to,
        travel_class: travelClass,
        travel_cost: cost,
        transaction_id: transactionId,
      };
      bookings.set(bookingId, dict(booking));
      return dict({
        booking_id: bookingId,
        transaction_id: transactionId,
        booking_status: true,
        booking_history: longContext ? bookings : dict({}),
      });
    }

    function register(number: Value, expiration: Value, holder: Value, code: Value): Value {
      if (cards.has(number)) return error('Card already registered');
      const cardId = id(100000000000n, 999999999999n);
      cards.set(
        cardId,
        dict({
          card_number: number,
          expiration_date: expiration,
          cardholder_name: holder,
          card_verification_number: code,
          balance: random.randint(10000n, 99999n),
        }),
      );
      return dict({ card_id: cardId });
    }

    function verify(first: Value, last: Value, birth: Value, passport: Value): Value {
      const refused = (verification_failure: string) => dict({ verification_status: false, verification_failure });
      const { user_first_name, user_last_name } = own as { user_first_name: Value; user_last_name: Value };
      if (!equal(user_first_name, first) || !equal(user_last_name, last))
        return refused(
          f`Cannot book flight information for another user.Expected ${user_first_name} ${user_last_name}, got ${first} ${last}`,
        );
      let born: Date;
      try {
        born = new Date(parseTime(birth, '%Y-%m-%d'));
      } catch (cause) {
        if (isValueError(cause)) return refused('Invalid date of birth format. Please use YYYY-MM-DD.');
        throw cause;
      }
      const today = new Date();
      const [month, day] = [today.getMonth() - born.getUTCMonth(), today.getDate() - born.getUTCDate()];
      const age = today.getFullYear() - born.getUTCFullYear() - (month < 0 || (month === 0 && day < 0) ? 1 : 0);
      if (age < 18) return refused('Traveler must be at least 18 years old.');
      if (!textFor('startswith', passport).startsWith('US')) return refused('Passport must be issued by the United States.');
      return dict({ verification_status: true });
    }

    function exchange(from: Value, to: Value, value: Value): Value {
      for (const [base, target, rate] of tables.rates) {
        if (equal(from, base!) && equal(to, target!)) return dict({ exchanged_value: float(multiply(value, rate!)) });
        if (equal(from, target!) && equal(to, base!)) return dict({ exchanged_value: round(divide(value, rate!), 2n) });
      }
      throw valueError('No available exchange rate for the given currencies.');
    }

    return {
      attributes: own,
      methods: {
        authenticate_travel(_client, _secret, _refresh, grant, first, last) {
          Object.assign(own, {
            token_expires_in: 2n,
            access_token: id(100000n, 999999n),
            token_type: 'Bearer',
            token_scope: grant,
            user_first_name: first,
            user_last_name: last,
          });
          return dict({ expires_in: 2n, access_token: own.access_token!, token_type: 'Bearer', scope: grant! });
        },
        travel_get_login_status: () => dict({ status: own.token_expires_in !== null && !equal(own.token_expires_in!, 0n) }),
        get_budget_fiscal_year: () => dict({ budget_fiscal_year: '2018' }),
        register_credit_card: (token, ...args) =>
          own.token_expires_in === null
            ? error('Token not initialized')
            : withToken((number, expiration, holder, code) => register(number!, expiration!, holder!, code!))(token, ...args),
        get_flight_cost: (from, to, date, travelClass) => dict({ travel_cost_list: costOf(from!, to!, date!, travelClass!).all }),
        get_credit_card_balance: withToken((cardId) => {
          const card = cards.get(cardId!);
          if (card === undefined) return error(`Card not registered. Here are a list of card_id's: ${repr(cards.keys())}`);
          return dict({ card_balance: itemOf(card, 'balance') });
        }),
        book_flight: withToken((card, date, from, to, travelClass) => book(card!, date!, from!, to!, travelClass!), bookingFailed),
        retrieve_invoice: withToken((bookingId) => {
          const booking = bookings.get(bookingId!);
          if (booking === undefined) return error('Booking not found');
          const fields = INVOICED.map((field) => [field, itemOf(booking, field)] as const);
          return dict({ invoice: dict({ booking_id: bookingId!, ...Object.fromEntries(fields) }) });
        }),
        get_booking_history: withToken(() => dict({ booking_history: deepCopy(bookings) })),
        list_all_airports: () => [...tables.airports],
        cancel_booking: withToken((bookingId) => {
          const booking = bookings.get(bookingId!);
          if (booking === undefined) return failed('cancel_status')('Booking not found');
          const [cardId, cost] = [itemOf(booking, 'card_id'), itemOf(booking, 'travel_cost')];
          const card = itemOf(cards, cardId);
          setItem(card, 'balance', add(itemOf(card, 'balance'), cost));
          bookings.delete(bookingId!);
          return dict({ cancel_status: true });
        }, failed('cancel_status')),
        compute_exchange_rate: (from, to, value) => exchange(from!, to!, value!),
        verify_traveler_information: (first, last, birth, passport) => verify(first!, last!, birth!, passport!),
        set_budget_limit: withToken((limit) => {
          own.budget_limit = float(limit!);
          return dict({ budget_limit: own.budget_limit });
        }),
        get_nearest_airport_by_city: (city) => dict({ nearest_airport: tables.airportByCity.get(city!) ?? 'Unknown' }),
        purchase_insurance: withToken((_type, bookingId, cost, cardId) => {
          const refused = failed('insurance_status');
          if (own.budget_limit !== null && less(own.budget_limit!, cost!)) return refused('Exceeded budget limit');
          if (!bookings.has(bookingId!)) return refused('Booking not found');
          const card = cards.get(cardId!);
          if (card === undefined) return refused('Credit card not registered');
          setItem(card, 'balance', subtract(itemOf(card, 'balance'), cost!));
          return dict({ insurance_id: id(100000000n, 999999999n), insurance_status: true });
        }, failed('insurance_status')),
        contact_customer_support: (bookingId) =>
          bookings.has(bookingId!)
            ? dict({
                customer_support_message:
                  'Thank you for contacting customer support. Your message has been received and we will get back to you shortly.',
              })
            : error('Booking not found'),
        get_all_credit_cards: () => dict({ credit_card_list: cards }),
      },
    };
  },
};

function addMissing(own: Dict, others: Dict): void {
  for (const [key, value] of others.entries()) if (!own.has(key)) own.set(key, value);
}
