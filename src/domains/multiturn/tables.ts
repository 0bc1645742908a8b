/** @file The tables of BFCL's classes: default states, prices, places, and the fillers of the long context. */
import { itemOf } from '../../python/operations.ts';
import { Dict, type Value } from '../../python/values.ts';

/** What the source code of the classes has beside the code. It is read from the visitor's copy, and no object changes it. */
export interface Tables {
  /** The default state of each class. */
  states: Dict;
  symbols: Dict;
  sectors: Dict;
  /** Rows of from, to and price. */
  routes: Value[][];
  /** Rows of two currencies and the rate. */
  rates: Value[][];
  airportByCity: Dict;
  airports: Value[];
  zipcodes: Dict;
  /** Rows of two zip codes and the miles between them. */
  distances: Value[][];
  /** The fillers of the long context, by upstream's names. */
  fillers: Dict;
}

/** The default state of a class. Empty for a class without state. */
export function defaultsOf({ states }: Tables, className: string): Dict {
  const state = states.get(className);
  return state instanceof Dict ? state : new Dict();
}

/** A filler of the long context. */
export const fillerOf = ({ fillers }: Tables, name: string): Value => itemOf(fillers, name);
