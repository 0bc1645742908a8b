/** @file Names and addresses of the customers. */
import type { Talk } from './talk.ts';

const FIRST = 'Nora Felix Ingrid Tomas Leila Marcus Yara Oscar Helen Bruno Aisha Victor Greta Samuel Priya Jonas Elena Hugo Mina Caleb Rosa Anton Freya Malik Celia Rupert Dina Edgar'; // prettier-ignore
const LAST = 'Whitlock Okafor Lindqvist Marsh Delgado Petrov Haddad Novak Ferris Castell Bright Aoki Moreau Keane Stroud Ivarsen Banerjee Holt Quint Rasmussen Tran Eklund Vance Ortega Pike Sandoval Weir Zeller'; // prettier-ignore
const STREETS = ['Maple Lane', 'Harbor Street', 'Birch Road', 'Mill Avenue', 'Quarry Drive', 'Orchard Way', 'Station Road', 'Bay Terrace'];
const TOWNS = [
  ['Portland', 'OR', '972'],
  ['Columbus', 'OH', '432'],
  ['Tucson', 'AZ', '857'],
  ['Raleigh', 'NC', '276'],
  ['Omaha', 'NE', '681'],
  ['Albany', 'NY', '122'],
  ['Fresno', 'CA', '937'],
  ['Madison', 'WI', '537'],
] as const;

export interface Address {
  address1: string;
  address2: string;
  city: string;
  country: string;
  state: string;
  zip: string;
}

export interface Person {
  first: string;
  last: string;
  user: string;
  email: string;
  dob: string;
  address: Address;
}

export function person(t: Talk): Person {
  const [first, last] = [t.one(FIRST.split(' ')), t.one(LAST.split(' '))];
  const name = `${first}_${last}`.toLowerCase();
  return {
    first,
    last,
    user: `${name}_${t.digits(4)}`,
    email: `${name.replace('_', '.')}${t.digits(4)}@example.com`,
    dob: `19${60 + t.below(38)}-0${1 + t.below(9)}-1${t.below(10)}`,
    address: address(t),
  };
}

export function address(t: Talk): Address {
  const [city, state, zip] = t.one(TOWNS);
  return {
    address1: `${t.digits(3)} ${t.one(STREETS)}`,
    address2: `Suite ${t.digits(3)}`,
    city,
    country: 'USA',
    state,
    zip: zip + t.digits(2),
  };
}
