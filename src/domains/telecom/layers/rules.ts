/** @file The rules of the provider's policy, each with the content words of the sentence that states it. */
import { CONFIRMED } from '../../../agent/layers/consent-check.ts';
import { MANNERS } from '../../../agent/layers/manners.ts';
import type { RuleBook } from '../../../agent/layers/rule-log.ts';
import { TOLD } from '../../../agent/layers/told.ts';
import { POLICY } from '../policy.ts';

export const RULES: RuleBook = {
  own: POLICY,
  rules: {
    ...MANNERS,
    ...CONFIRMED,
    ...TOLD,
    not_authenticated: {
      must: [/\b(identif|authenticat|verif|find|look(ing)? up)\w*/, /\b(customer|user|identity)\b/],
      may: [/\b(first|before|must|begin|start)\b/, /\b(phone|date of birth|id)\b/],
      never: /\b(bill|line is|payment|data|required|loses?)\b/,
    },
    unpaid_bill: {
      must: [
        /\b(resum|lift|unsuspend|reactivat|restor)\w*|\bsuspen(sion|ded)\b/,
        /\b(paid|pay|pays|bills?)\b/,
        /\b(allowed|may|only|after|when|once|until|unless|before|can)\b/,
      ],
      may: [/\b(all|every|any)\b/, /\boverdue\b/, /\bafter\b|\bwhen\b/],
      never: /\bcan be suspended\b|\bhas an overdue\b/,
    },
    ended_contract: {
      must: [/\bcontract/, /\b(resum|lift|unsuspend|reactivat|restor|resumed)\w*|\bsuspen(sion|ded)\b/],
      may: [/\b(not|never|cannot)\b/, /\b(end|ended|past|expired)\b/],
    },
    too_much_data: {
      must: [/\b2(\.0)? ?gb\b|\btwo (gb|gigabytes)\b/, /\b(max\w*|most|up to|more than|exceed\w*|limit)\b/],
      may: [/\brefuel|\badded?\b/],
    },
    other_line: {
      must: [/\bline\b/, /\b(call about|phone number the (user|customer)|associated with|they (named|gave))\b/],
      may: [/\b(refuel|data|gb)\w*/],
    },
    no_price: {
      must: [/\b(price|cost)s?\b/, /\b(confirm|consent|agree|tell|say|approv)\w*/],
      may: [/\b(refuel|data|gb)\b/],
      never: /\bplan\b(?!.*\bgb\b)/,
    },
    not_overdue: {
      must: [/\boverdue\b/, /\b(check|make sure|verify|ensure|only)\b/, /\b(bill|it)\b/],
      may: [/\bpayment request\b/, /\bbefore\b|\balways\b/],
    },
    second_request: {
      must: [/\b(one|single|second|another)\b/, /\b(awaiting payment|payment request|requests?|bill)\b/, /\b(one|at a time|time)\b/],
      may: [/\bawaiting\b/, /\bat a time\b/, /\bpayment request\b/],
      never: /\b(tool call|one tool|step at a time|receives?)\b/,
    },
    paid_unchecked: {
      must: [/\bpaid\b/, /\b(check|verify|make sure|confirm)\w*/, /\b(before|then|always|status)\b/],
      may: [/\binform|\btell/, /\bupdated\b|\bis paid\b/],
    },
    roaming_charged: { must: [/\b(roaming|enabl\w*)\b/, /\b(no cost|free|no charge|without (any )?(cost|charge))\b/] },
  },
};
