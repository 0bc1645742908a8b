/** @file The rules of the airline's policy, each with the content words of the sentence that states it. */
import { CONFIRMED } from '../../../agent/layers/consent-check.ts';
import { MANNERS } from '../../../agent/layers/manners.ts';
import type { RuleBook } from '../../../agent/layers/rule-log.ts';
import { TOLD } from '../../../agent/layers/told.ts';

/** The playground has no policy of its own for the airline, so it states the rules in its own words. */
const OURS = `(ours) First get the customer's user id, before any look at a reservation and any change.
(ours) Serve only this customer, and refuse requests about another user's data or reservations.
(ours) Before each change state its details and get a yes.
(ours) Make one tool call at a time, and never speak to the customer beside a call.
(ours) Transfer to a human only if no tool can do what is asked.
(ours) Flights of basic economy cannot be changed; the cabin can.
(ours) New flights keep the origin, the destination and the type of the trip.
(ours) A reservation has at most five passengers.
(ours) The number of passengers cannot be changed.
(ours) Checked bags can be added but not removed.
(ours) A bag above the free allowance of the membership and the cabin costs 50 dollars.
(ours) A booking is paid with at most one certificate, one credit card and three gift cards.
(ours) Payment methods must be in the user's profile.
(ours) A change of flights is paid with one gift card or credit card.
(ours) A reservation can be cancelled within 24 hours of booking, if the airline cancelled the flight, in business, or if the insurance covers the reason.
(ours) Ask for the reason of a cancellation first.
(ours) If a part of the trip is already flown, it cannot be cancelled or changed: transfer.
(ours) Offer compensation only if the customer asks for it.
(ours) Compensate only silver or gold members, and customers with insurance or in business.
(ours) A certificate is 100 dollars a passenger for cancelled flights, and 50 dollars a passenger for delayed flights.`;

export const RULES: RuleBook = {
  own: OURS,
  rules: {
    ...MANNERS,
    ...CONFIRMED,
    ...TOLD,
    not_authenticated: {
      must: [/\b(obtain|get|ask|provide|identif|authenticat|verify|need)\w*/, /\b(user|customer) id|\buser_id|\bidentity/],
      may: [/\b(first|before|must)\b/, /\breservation id\b/],
    },
    other_payment: {
      must: [/\bpayment method/, /\bprofile\b/],
      may: [/\b(must|all|already)\b/],
      never: /\bprofile containing\b|\bdate of birth\b/,
    },
    basic_economy: { must: [/\bbasic[ _]economy\b/, /\b(not|cannot|can't|never|unable)\b/, /\b(modif|chang)\w*/], may: [/\bflights?\b/] },
    changed_route: { must: [/\borigin\b/, /\bdestination\b/, /\b(without|keep|same|not|cannot)\b/] },
    too_many_passengers: { must: [/\bpassengers?\b/, /\b(five|5)\b/, /\b(most|max\w*|more than|up to)\b/] },
    passenger_count: { must: [/\bnumber of passengers\b|\bpassenger count\b/, /\b(not|cannot|can't|never)\b/], may: [/\bmodif|\bchang/] },
    removed_bags: { must: [/\bbags?\b|\bbaggages?\b|\bluggage\b/, /\bremov\w*|\breduc\w*/] },
    wrong_bag_fee: {
      must: [/\b(extra|bag|bags|baggage)\b/, /\b(50|fifty)\b|\bfree (checked )?bag|\ballowance\b/],
      may: [/\b50\b/, /\b(each|extra|above)\b/],
    },
    too_many_payments: { must: [/\bcertificate/, /\bcredit card/, /\bgift cards?\b/, /\b(most|max\w*|only)\b/] },
    wrong_payment: {
      must: [/\bgift card\b/, /\bcredit card\b/, /\b(one|single)\b/, /\b(flights?|chang|modif)\w*/],
      never: /\bat most one travel\b|\bthree gift\b/,
    },
    cancel_not_allowed: {
      must: [/\bcancel/, /\b24 ?(h|hours?|hrs?)\b|\bany of the following\b|\bonly if\b/],
      may: [/\b(business|insurance|airline)\b/, /\bany of the following\b/, /\bcan\b/],
    },
    no_reason: {
      must: [/\breasons?\b/, /\b(obtain|ask|get|collect|request|provide|learn|find out|inquire)\w*\b/],
      may: [/\bcancel/, /\b(first|before|must|also)\b/],
      never: /\b(transfer|refus|declin|deny|den(y|ied)|escalat|compensat)\w*/,
    },
    flown_segment: {
      must: [/\b(flown|already used|used)\b/, /\b(cannot|can't|only|transfer|not)\b/],
      may: [/\bcancel/, /\bsegment|\bportion|\bpart\b/],
    },
    compensation_not_asked: {
      must: [/\b(offer|compensat\w*|certificate)\b/, /\b(unless|only|not)\b/, /\b(ask|asks|proactive\w*|complains?|requests?)\b/],
      may: [/\bproactively\b/, /\bexplicitly\b/],
    },
    compensation_not_due: {
      must: [/\bcompensat\w*|\bcertificate/, /\b(silver|gold|regular)\b/],
      may: [/\b(only|not)\b/, /\binsurance\b/, /\bbusiness\b/],
    },
    compensation_amount: { must: [/\$? ?(100|50)\b/, /\bpassengers?\b/, /\b(certificate|compensat\w*)\b|\bdelayed\b/], may: [/\b100\b/] },
  },
};
