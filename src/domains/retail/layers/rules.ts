/** @file The rules of the shop's policy, each with the content words of the sentence that states it. */
import { CONFIRMED } from '../../../agent/layers/consent-check.ts';
import { MANNERS } from '../../../agent/layers/manners.ts';
import type { RuleBook } from '../../../agent/layers/rule-log.ts';
import { TOLD } from '../../../agent/layers/told.ts';
import { POLICIES } from '../policy.ts';

const OWNER: RuleBook['rules'] = {
  not_authenticated: {
    must: [/\b(authenticat|identif|identity|verif|find|found|locat|look(ing)? up)\w*/, /\b(user|customer|identity|who they are)\b/],
    may: [/\b(e-?mail|zip|name)\b/, /\b(first|begin|beginning|start|before|always)\w*/, /\b(must|have to|need to)\b/],
    never: /\b(status|items?|product|order id|payment methods?)\b/,
  },
};

export const RULES: RuleBook = {
  own: POLICIES.full,
  rules: {
    ...MANNERS,
    ...CONFIRMED,
    ...TOLD,
    ...OWNER,
    other_payment: {
      must: [
        /\bpayment|\bmethods?\b|\bgift cards?\b/,
        /\bprofile\b|\bon file\b|\bmethods? of the (customer|user)|\b(customer|user)'s own (payment|methods?|cards?)/,
      ],
      may: [/\bonly\b/, /\bmust\b/],
      never: /\bhas a profile\b|\bprofile (of|contain)|\bdefault\b|\babout their own profile\b/,
    },
    wrong_status: {
      must: [/\b(order|orders)\b/, /\b(pending|delivered|processed)\b/, /\b(only|if|cannot|can|be)\b/],
      may: [/\bonly\b|\bcannot\b/, /\bstatus\b/, /\bcancel|\breturn|\bmodif|\bexchang|\bchange/],
    },
    unchecked_status: {
      must: [/\bcheck\w*|\blook\w*|\bverify\w*/, /\b(status|it|order)\b/, /\b(before|first|prior)\b/],
      may: [/\border/, /\bstatus\b/],
    },
    wrong_reason: { must: [/\breason\b/, /\b(no longer needed|mistake)\b/] },
    changed_before: {
      must: [/\b(once|not|neither|any ?more|no longer|one time|afterwards?|again)\b/, /\b(modif|chang|replac|item|exchang)\w*/],
      may: [/\b(cancel|cancelled)\b/, /\b(once|one time)\b/, /\b(pending|afterwards?|any ?more)\b/, /\bitems?\b/],
      never: /\b(payment|address|different|gift card|reason|refund|explicit|transfer)\b|\breturned or exchanged\b/,
    },
    no_reminder: {
      must: [
        /\b(remind\w*|whether|make sure|be sure|ensure|(check|confirm|verify|ask) (that|if|they)|collect\w*|double-?check)\b/,
        /\b(all|every|complete)\b[^.;]{0,30}\bitems?\b|\bitems?\b[^.;]{0,30}\b(complete|all)\b/,
        /\b(named?|provided?|listed?|list|given|mentioned|confirm|complete|collect(ed)?|included?|chang(e|ed)|exchanged?)\b/,
      ],
      may: [/\bremind/, /\bonce\b|\bsingle time\b/],
      never: /\breason\b|\baddress\b/,
    },
    other_product: {
      must: [/\b(same product|same type|product types?|type of product|kind of product)\b/],
      may: [/\bitem/, /\bavailable\b/, /\b(no|cannot|not)\b/],
    },
    unavailable_item: {
      must: [/\bavailable\b|\bin stock\b/, /\bitems?\b/],
      may: [/\bnew\b|\bother\b/, /\bsame product\b/],
      never: /\b(products? has|following|attributes)\b/,
    },
    same_payment: {
      must: [/\b(payment|paid|method)\b/, /\b(different|another|other|new)\b/],
      may: [/\boriginal\b/, /\b(single|one)\b/, /\b(pending|modif|moved?)\b/],
      never: /\b(return|refund must|exchange|yes)\b/,
    },
    short_gift_card: {
      must: [/\bgift cards?\b/, /\b(balance|cover|enough|sufficient)\b/, /\b(cover|enough|sufficient|whole|total|difference)\b/],
      may: [/\bmust\b/, /\b(total|whole)\b/],
    },
    wrong_refund: {
      must: [/\brefund/, /\b(original|same)\b/, /\bgift card\b/],
      may: [/\b(must|only|either)\b/, /\breturn/],
      never: /\b(immediately|at once|business days)\b/,
    },
    several_requests: {
      must: [
        /\b(one|single) (request|order|change|issue|task|thing)\b[^.,;:]{0,30}\b(at a time|at once)\b|\b(requests?|orders?|changes)\b[^.,;:]{0,30}\b(one by one|one after (the other|another)|separately)\b/,
      ],
    },
  },
};
