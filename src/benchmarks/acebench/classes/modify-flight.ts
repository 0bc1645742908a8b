/** @file `Travel.modify_flight`: changes the flight, the cabin or the baggage of a reservation. */
import { add, dictFor, itemOf, less, multiply, negate, setItem, subtract } from '../../../python/operations.ts';
import { equal, truth, type Value } from '../../../python/values.ts';
import { type ApiContext, f } from './api.ts';
import { balanceChanged, findRow, freeBags, maximum, priceDifference } from './fares.ts';

/** @param args the user's id, the reservation's id, a new flight, a new cabin, the number of more bags, a new method of payment */
export function modifyFlight(context: ApiContext, args: readonly Value[]): string {
  const { own, text } = context;
  const [userId, reservationId, flightNumber, cabin, bags, method] = args as [Value, Value, Value, Value, Value, Value];
  const reservation = findRow(own.reservations!, { reservation_id: reservationId, user_id: userId });
  if (!truth(reservation)) return text('Reservation not found or user ID does not match.', '预订未找到或用户ID不匹配。');
  const field = (name: string) => itemOf(reservation, name);
  const flight = findRow(own.flights!, { flight_no: field('flight_no') });
  if (!truth(flight)) return text('Flight information not found.', '航班信息未找到。');
  const payment = truth(method) ? method : field('payment_method');
  const user = itemOf(own.users!, userId);
  if (!truth(user)) return text('User information not found.', '用户信息未找到。');
  const messages: string[] = [];

  if (truth(flightNumber) && !equal(flightNumber, field('flight_no'))) {
    const next = findRow(own.flights!, { flight_no: flightNumber });
    const sameRoute = truth(next) && ['origin', 'destination'].every((end) => equal(itemOf(next, end), itemOf(flight, end)));
    if (!sameRoute)
      return text(
        'Flight change failed: Invalid new flight number or destination does not match.',
        '航班更改失败：新的航班号无效或目的地不匹配。',
      );
    setItem(reservation, 'flight_no', flightNumber);
    messages.push(text('Flight number has been changed.', '航班号已更改。'));
  }

  if (truth(cabin) && !equal(cabin, dictFor('get', reservation).get('cabin') ?? null)) {
    // Upstream takes the prices of the old flight, and changes the cabin before the payment.
    const difference = priceDifference(context, flight, field('cabin'), cabin);
    setItem(reservation, 'cabin', cabin);
    if (less(0n, difference))
      messages.push(
        balanceChanged(user, payment, negate(difference))
          ? text(f`Cabin change successful. Price difference paid: ${difference}.`, f`舱位更改成功。已支付差价: ${difference}。`)
          : text('Insufficient balance to pay the cabin price difference.', '余额不足，无法支付舱位差价。'),
      );
    else if (less(difference, 0n)) {
      const back = negate(difference);
      balanceChanged(user, payment, back);
      messages.push(text(f`Cabin change successful. Price difference refunded: ${back}.`, f`舱位更改成功。已退款差价: ${back}。`));
    }
  }

  if (less(0n, bags)) {
    const free = freeBags(context, itemOf(user, 'membership_level'), field('cabin'));
    const total = add(dictFor('get', reservation).get('baggage') ?? 0n, bags);
    const cost = multiply(maximum(0n, subtract(total, free)), 50n);
    if (less(0n, cost))
      messages.push(
        balanceChanged(user, payment, negate(cost))
          ? text(f`Baggage has been added. Additional fee to be paid: ${cost}.`, f`行李已增加。需支付额外费用: ${cost}。`)
          : text('Insufficient balance to pay the additional baggage fees.', '余额不足，无法支付额外行李费用。'),
      );
    setItem(reservation, 'baggage', total);
  }

  if (messages.length === 0) return text('Modification completed with no additional fees.', '修改完成，无需额外费用。');
  return messages.join(' ');
}
