/** @file `Travel`: flights and reservations. */
import { add, contains, dictFor, itemOf, iterate, less, listFor, multiply, setItem, subtract } from '../../../python/operations.ts';
import { parseTime } from '../../../python/strings.ts';
import { Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, f, fieldsOf } from './api.ts';
import { baggageAllowance, balanceChanged, findRow, freeBags, hasFields, maximum, priceDifference } from './fares.ts';
import { modifyFlight } from './modify-flight.ts';

/** Upstream's time of a cancellation, in milliseconds. */
const NOW = Date.UTC(2024, 6, 14, 6);
const DAY = 24 * 3600 * 1000;
const TIME = '%Y-%m-%d %H:%M:%S';

const FLIGHT_FIELDS = [
  'flight_no',
  'origin',
  'destination',
  'depart_time',
  'arrival_time',
  'status',
  'seats_available',
  'economy_price',
  'business_price',
];

export const travel: ApiClass = {
  attributes: ['users', 'flights', 'reservations'],
  saved: ['users', 'reservations'],
  phone: false,
  signatures: {
    get_flight_details: 'origin=None, destination=None',
    get_user_details: 'user_id, password',
    get_reservation_details: 'reservation_id=None, user_id=None',
    authenticate_user: 'user_id, password',
    get_baggage_allowance: 'membership_level, cabin_class',
    find_transfer_flights: 'origin_city, transfer_city, destination_city',
    calculate_baggage_fee: 'membership_level, cabin_class, baggage_count',
    update_balance: 'user, payment_method, amount',
    reserve_flight: 'user_id, password, flight_no, cabin, payment_method, baggage_count',
    modify_flight: 'user_id, reservation_id, new_flight_no=None, new_cabin=None, add_baggage=0, new_payment_method=None',
    cancel_reservation: 'user_id, reservation_id, reason',
    process_refund: 'user, amount',
    calculate_price_difference: 'flight, old_cabin, new_cabin',
  },
  create(context) {
    const { own, text } = context;
    const userOf = (id: Value) => dictFor('get', own.users!).get(id) ?? null;
    const isUser = (user: Value, password: Value) => truth(user) && equal(itemOf(user, 'password'), password);
    const wrongPassword = () => dict({ status: 'error', message: text('Incorrect username or password.', '用户名或密码不正确') });
    const where = (fields: Record<string, Value>) => iterate(own.flights!).filter((flight) => hasFields(flight, fields));
    const priceOf = (flight: Value, cabin: Value) =>
      itemOf(flight, equal(cabin, text('Economy Class', '经济舱')) ? 'economy_price' : 'business_price');

    function authenticate(id: Value, password: Value): Value {
      const user = userOf(id);
      return isUser(user, password) ? user : wrongPassword();
    }

    function baggageFee(level: Value, cabin: Value, count: Value): Value {
      const free = itemOf(itemOf(baggageAllowance(context), level), cabin);
      return multiply(maximum(subtract(count, free), 0n), 50n);
    }

    function refund(user: Value, amount: Value): null {
      setItem(user, 'cash_balance', add(itemOf(user, 'cash_balance'), amount));
      // Upstream prints the name.
      itemOf(user, 'user_name');
      return null;
    }

    return {
      get_flight_details(origin, destination) {
        const flights = where({ ...(truth(origin!) && { origin: origin! }), ...(truth(destination!) && { destination: destination! }) });
        if (flights.length === 0) return text('There are no direct flights that meet the criteria.', '没有符合条件的直达航班');
        return flights.map((flight) => fieldsOf(flight, FLIGHT_FIELDS));
      },
      get_user_details(id, password) {
        const user = userOf(id!);
        if (!isUser(user, password!)) return wrongPassword();
        return new Dict(
          dictFor('items', user)
            .entries()
            .filter(([key]) => key !== 'password'),
        );
      },
      get_reservation_details(id, user) {
        if (!truth(id!) && !truth(user!))
          return dict({
            status: 'error',
            message: text('Please provide a valid reservation ID or user ID', '请提供有效的预订ID或用户ID'),
          });
        const [field, wanted] = truth(id!) ? ['reservation_id', id!] : ['user_id', user!];
        return iterate(own.reservations!)
          .filter((one) => equal(itemOf(one, field), wanted))
          .map((one) => {
            const flight = findRow(own.flights!, { flight_no: itemOf(one, 'flight_no') });
            return dictFor('keys', one).copy().set('flight_info', flight);
          });
      },
      authenticate_user: (id, password) => authenticate(id!, password!),
      get_baggage_allowance: (level, cabin) => freeBags(context, level!, cabin!),
      find_transfer_flights(origin, transfer, destination) {
        const legs = (from: Value, to: Value) => where({ origin: from, destination: to, status: 'available' });
        const seconds = legs(transfer!, destination!);
        const pairs = legs(origin!, transfer!).flatMap((first) => {
          const arrival = parseTime(itemOf(first, 'arrival_time'), TIME);
          return seconds
            .filter((second) => arrival < parseTime(itemOf(second, 'depart_time'), TIME))
            .map((second) => dict({ first_leg: first, second_leg: second }));
        });
        return pairs.length > 0 ? pairs : text('No connecting flights that meet the criteria were found.', '未找到符合条件的中转航班。');
      },
      calculate_baggage_fee: (level, cabin, count) => baggageFee(level!, cabin!, count!),
      update_balance: (user, method, amount) => balanceChanged(user!, method!, amount!),
      reserve_flight(id, password, flightNumber, cabin, method, bags) {
        // A wrong password gives an error here too, which upstream takes for a user: then the level is missing.
        const user = authenticate(id!, password!);
        const flight = findRow(own.flights!, { flight_no: flightNumber!, status: 'available' });
        const price = priceOf(flight, cabin!);
        const cost = add(price, baggageFee(itemOf(user, 'membership_level'), cabin!, bags!));
        if (!contains(['cash', 'bank'], method!)) return text('Invalid payment method', '支付方式无效');
        const field = f`${method!}_balance`;
        const balance = itemOf(user, field);
        if (less(balance, cost))
          return text(
            f`Your ${method!} balance is insufficient. Please consider using another payment method.`,
            f`${method!}余额不足，请考虑换一种支付方式`,
          );
        setItem(user, field, subtract(balance, cost));
        setItem(flight, 'seats_available', subtract(itemOf(flight, 'seats_available'), 1n));
        const reservations = listFor('append', own.reservations!);
        const number = `res_${reservations.length + 1}`;
        reservations.push(
          dict({
            reservation_id: number,
            user_id: id!,
            flight_no: flightNumber!,
            payment_method: method!,
            cabin: cabin!,
            baggage: bags!,
          }),
        );
        return text(
          f`Booking successful. Reservation ID: ${number}. Total cost: ${cost} yuan (including baggage fees).`,
          f`预订成功，预订号：${number}，总费用：${cost}元（包含行李费用）。`,
        );
      },
      modify_flight: (...args) => modifyFlight(context, args),
      cancel_reservation(id, reservationId, reason) {
        const user = userOf(id!);
        if (!truth(user)) return text('Invalid user ID.', '用户ID无效。');
        const reservation = findRow(own.reservations!, { reservation_id: reservationId!, user_id: id! });
        if (!truth(reservation)) return text('Invalid reservation ID or it does not belong to the user.', '预订ID无效或与该用户无关。');
        const flight = findRow(own.flights!, { flight_no: itemOf(reservation, 'flight_no') });
        if (!truth(flight)) return text('Invalid flight information.', '航班信息无效。');
        const left = parseTime(itemOf(flight, 'depart_time'), TIME) - NOW;
        if (left < 0) return text('The flight segment has been used and cannot be canceled.', '航段已使用，无法取消。');
        const price = priceOf(flight, itemOf(reservation, 'cabin'));
        if (equal(reason!, text('The airline has canceled the flight.', '航空公司取消航班'))) {
          refund(user, price);
          return text(
            f`The flight has been canceled. Your reservation will be canceled free of charge, and ${price} yuan has been refunded.`,
            f`航班已取消，您的预订将被免费取消，已退款${price}元。`,
          );
        }
        // Upstream does not remove the reservation.
        if (left > DAY) {
          refund(user, price);
          return text(
            f`More than 24 hours before departure. Free cancellation successful, ${price} yuan has been refunded.`,
            f`距离出发时间超过24小时，免费取消成功，已退款${price}元。`,
          );
        }
        const fee = multiply(price, 0.1);
        const rest = subtract(price, fee);
        refund(user, rest);
        return text(
          f`Less than 24 hours before departure. A cancellation fee of ${fee} yuan has been deducted, and ${rest} yuan has been refunded.`,
          f`距离出发时间不足24小时，已扣除取消费${fee}元，退款${rest}元。`,
        );
      },
      process_refund: (user, amount) => refund(user!, amount!),
      calculate_price_difference: (flight, from, to) => priceDifference(context, flight!, from!, to!),
    };
  },
};
