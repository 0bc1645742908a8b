/**
 * @file How messages of each domain are understood, for the audit of customers and the metrics of behaviour. This list is apart from the
 * domains, because the first page loads those and needs no language.
 */
import type { CustomerLanguage } from '../users/types.ts';
import { domainOf } from './registry.ts';
import { shopLanguage } from './retail/customer/language.ts';
import { lineLanguage } from './telecom/glimpse/language.ts';

const LANGUAGES = new Map<string | undefined, CustomerLanguage>([
  ['airline', shopLanguage],
  ['mock', shopLanguage],
  ['retail', shopLanguage],
  ['telecom', lineLanguage],
]);

/** Undefined for a domain without a language: then the audit finds no claims, requests and contradictions. */
export const languageOf = (domain: string): CustomerLanguage | undefined => LANGUAGES.get(domainOf(domain)?.name);
