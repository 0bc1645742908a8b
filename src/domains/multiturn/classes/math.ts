/** @file `MathAPI`: arithmetic. It has no state. */
import { power, round } from '../../../python/conversions.ts';
import { squareRoot } from '../../../python/decimal.ts';
import { logarithm } from '../../../python/mpmath.ts';
import { abs, add, divide, iterate, length, less, multiply, subtract, sum } from '../../../python/operations.ts';
import { asNumber, Dict, dict, equal, PyError, truth, type Value } from '../../../python/values.ts';
import { type ApiClass, error, f } from './api.ts';

const TO_METERS = dict({ km: 1000n, m: 1n, cm: 0.01, mm: 0.001, um: 1e-6, nm: 1e-9 });
const CONVERSIONS = dict({
  cm_to_in: 0.393701,
  in_to_cm: 2.54,
  m_to_ft: 3.28084,
  ft_to_m: 0.3048,
  m_to_yd: 1.09361,
  yd_to_m: 0.9144,
  km_to_miles: 0.621371,
  miles_to_km: 1.60934,
  kg_to_lb: 2.20462,
  lb_to_kg: 0.453592,
  celsius_to_fahrenheit: 1.8,
  fahrenheit_to_celsius: 5 / 9,
});
const NUMBERS = 'Both inputs must be numbers';
const LIST = 'All elements in the list must be numbers';

/** The result of `work`. An exception of one of the kinds becomes an error with the message. */
function caught(kinds: readonly string[], message: string, work: () => Dict): Dict {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof PyError && kinds.includes(cause.kind)) return error(message);
    throw cause;
  }
}

const result = (value: Value) => dict({ result: value });

const binary = (work: (a: Value, b: Value) => Value) => (a?: Value, b?: Value) =>
  caught(['TypeError'], NUMBERS, () => result(work(a!, b!)));

/** A method on a list of numbers. */
const ofList = (act: string, work: (numbers: Value) => Value) => (numbers?: Value) =>
  truth(numbers!) ? caught(['TypeError'], LIST, () => result(work(numbers!))) : error(`Cannot ${act} of an empty list`);

/** The first element that comes before all others. */
const first = (before: (a: Value, b: Value) => boolean) => (numbers: Value) =>
  iterate(numbers).reduce((best, one) => (before(one, best) ? one : best));

const mean = (numbers: Value) => divide(sum(numbers), length(numbers));

function standardDeviation(numbers: Value): Value {
  const middle = mean(numbers);
  const squares = iterate(numbers).map((x) => {
    const difference = subtract(x, middle) as number;
    const square = difference * difference;
    if (!Number.isFinite(square) && Number.isFinite(difference))
      throw new PyError('OverflowError', "(34, 'Numerical result out of range')");
    return square;
  });
  return Math.sqrt(divide(sum(squares), length(numbers)) as number);
}

const isNumber = (value: Value) => asNumber(value) !== undefined;
const unsupported = (from: Value, to: Value) => error(f`Conversion from '${from}' to '${to}' is not supported`);
const TOO_LARGE = 'Conversion resulted in a value too large to represent';

export const mathApi: ApiClass = {
  signatures: {
    logarithm: 'value, base, precision',
    mean: 'numbers',
    standard_deviation: 'numbers',
    si_unit_conversion: 'value, unit_in, unit_out',
    imperial_si_conversion: 'value, unit_in, unit_out',
    add: 'a, b',
    subtract: 'a, b',
    multiply: 'a, b',
    divide: 'a, b',
    power: 'base, exponent',
    square_root: 'number, precision',
    absolute_value: 'number',
    round_number: 'number, decimal_places=0',
    percentage: 'part, whole',
    min_value: 'numbers',
    max_value: 'numbers',
    sum_values: 'numbers',
  },
  create: () => ({
    attributes: {},
    methods: {
      logarithm(value, base, precision) {
        try {
          return result(logarithm(value!, base!, precision!));
        } catch (cause) {
          if (cause instanceof PyError) return error(cause.message);
          throw cause;
        }
      },
      mean: ofList('calculate mean', mean),
      standard_deviation: ofList('calculate standard deviation', standardDeviation),
      si_unit_conversion(value, from, to) {
        if (!isNumber(value!)) return error('Value must be a number');
        if (!TO_METERS.has(from!) || !TO_METERS.has(to!)) return unsupported(from!, to!);
        return caught(['OverflowError'], TOO_LARGE, () =>
          result(multiply(multiply(value!, TO_METERS.get(from!)!), divide(1n, TO_METERS.get(to!)!))),
        );
      },
      imperial_si_conversion(value, from, to) {
        if (!isNumber(value!)) return error('Value must be a number');
        if (equal(from!, to!)) return result(value!);
        const factor = CONVERSIONS.get(f`${from!}_to_${to!}`);
        if (factor === undefined) return unsupported(from!, to!);
        return caught(['OverflowError'], TOO_LARGE, () => {
          if (from === 'fahrenheit') return result(multiply(subtract(value!, 32n), factor));
          const product = multiply(value!, factor);
          return result(from === 'celsius' ? add(product, 32n) : product);
        });
      },
      add: binary(add),
      subtract: binary(subtract),
      multiply: (a, b) => (isNumber(a!) && isNumber(b!) ? result(multiply(a!, b!)) : error(NUMBERS)),
      divide: (a, b) => (equal(b!, 0n) ? error('Cannot divide by zero') : binary(divide)(a, b)),
      power: binary(power),
      square_root: (number, precision) =>
        caught(['TypeError', 'InvalidOperation'], 'Input must be a number or computation resulted in an invalid operation', () =>
          less(number!, 0n) ? error('Cannot calculate square root of a negative number') : result(squareRoot(number!, precision!)),
        ),
      absolute_value: (number) => caught(['TypeError'], 'Input must be a number', () => result(abs(number!))),
      round_number: (number, places) =>
        caught(['TypeError'], 'First input must be a number, second input must be an integer', () => result(round(number!, places!))),
      percentage: (part, whole) =>
        equal(whole!, 0n) ? error('Whole value cannot be zero') : binary((a, b) => multiply(divide(a, b), 100n))(part, whole),
      min_value: ofList('find minimum', first(less)),
      max_value: ofList(
        'find maximum',
        first((a, b) => less(b, a)),
      ),
      sum_values: ofList('calculate sum', sum),
    },
  }),
};
