/** @file Reads the tables and prompts of BFCL, from JSON or from the literals of its Python source. */
import { itemOf, iterate } from '../../python/operations.ts';
import { filled } from '../../python/strings.ts';
import { Dict, ELLIPSIS, PySet, Tuple, type Value } from '../../python/values.ts';
import { ImportError } from '../../exchange/import-error.ts';
import { literalIn, type Source } from '../python-copy.ts';
import type { Tables } from '../../domains/multiturn/tables.ts';

/** The texts of the prompts. */
export interface Prompts {
  stepLimit: number;
  /** The system prompt of the prompt mode, with `{functions}`. */
  system: string;
  /** What the user says when withheld functions appear, in the FC mode. */
  added: string;
  /** The same for the prompt mode, with `{functions}`. */
  addedFunctions: string;
  /** Added to the description of every function. */
  hint: string;
}

/** Replaces `{"$set": []}` and `{"$python": "Ellipsis"}`. */
function unwrapped(value: Value): Value {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (!(value instanceof Dict)) return value;
  if (value.size === 1 && value.has('$set')) return new PySet(iterate(value.get('$set')!));
  if (value.size === 1 && value.get('$python') === 'Ellipsis') return ELLIPSIS;
  return new Dict(value.entries().map(([key, child]) => [key, unwrapped(child)]));
}

const at = (value: Value, ...path: string[]): Value => path.reduce(itemOf, value);
const rows = (value: Value) => iterate(value).map(iterate);

/** @param given the content of `long_context.json` @throws {PyError} if a filler is missing */
export function fillersFromJson(given: Value): Dict {
  const own = unwrapped(given);
  return new Dict(FILLERS.map((name) => [name, itemOf(own, name)]));
}

/** @param api the content of `api_tables.json` */
export function tablesFromJson(api: Value, fillers: Dict): Tables {
  const own = unwrapped(api);
  return {
    states: at(own, 'default_state') as Dict,
    symbols: at(own, 'trading', 'symbol_by_name') as Dict,
    sectors: at(own, 'trading', 'sectors') as Dict,
    routes: rows(at(own, 'travel', 'base_costs')),
    rates: rows(at(own, 'travel', 'exchange_rates')),
    airportByCity: at(own, 'travel', 'airport_by_city') as Dict,
    airports: at(own, 'travel', 'airports') as Value[],
    zipcodes: at(own, 'vehicle', 'zipcodes') as Dict,
    distances: rows(at(own, 'vehicle', 'distances')),
    fillers,
  };
}

/** The class whose default state is in each source file. */
const STATES: Record<string, string> = {
  message_api: 'MessageAPI',
  posting_api: 'TwitterAPI',
  ticket_api: 'TicketAPI',
  trading_bot: 'TradingBot',
  travel_booking: 'TravelAPI',
  vehicle_control: 'VehicleControlAPI',
};

const FILLERS = [
  'WATCH_LIST_EXTENSION',
  'TRANSACTION_HISTORY_EXTENSION',
  'MA_5_EXTENSION',
  'MA_20_EXTENSION',
  'TECHNOLOGY_EXTENSION',
  'AUTOMOBILE_EXTENSION',
  'ORDER_DETAIL_EXTENSION',
  'FILE_CONTENT_EXTENSION',
  'POPULATE_FILE_EXTENSION',
  'CAR_STATUS_METADATA_EXTENSION',
  'LONG_WEATHER_EXTENSION',
  'PARKING_BRAKE_INSTRUCTION',
  'INTERMEDIARY_CITIES',
  'CREDIT_CARD_EXTENSION',
  'BOOKING_RECORD_EXTENSION',
  'FILES_TAIL_USED',
];

/** @param source returns the source file with that name @throws {ImportError} */
export function tablesFromSource(source: (name: string) => Source): Tables {
  const [trading, travel, vehicle] = [source('trading_bot'), source('travel_booking'), source('vehicle_control')];
  const pairs = (value: Value) => (value as Dict).entries().map(([pair, number]) => [...(pair as Tuple).items, number]);
  const airports = /def list_all_airports\b[^]*?\n\s*return (\[[^\]]*\])/.exec(travel.text)?.[1];
  if (airports === undefined) throw new ImportError(travel.path, 'list_all_airports', 'it returns no list of texts');
  const zipcodes = [...vehicle.text.matchAll(/city == (["'])([^"']+)\1:\s*return \{["']zipcode["']: (["'])(\d+)\3\}/g)];
  const distances = [
    ...vehicle.text.matchAll(
      /cityA == ["'](\w+)["'] and cityB == ["'](\w+)["'](?:(?!distance = )[^])*?distance = \{["']distance["']: ([\d.]+)\}/g,
    ),
  ];
  if (zipcodes.length === 0 || distances.length === 0)
    throw new ImportError(
      vehicle.path,
      '',
      'it has no comparisons of cities: expected those of estimate_distance and get_zipcode_based_on_city',
    );
  return {
    states: new Dict(Object.entries(STATES).map(([name, className]) => [className, literalIn(source(name), 'DEFAULT_STATE')])),
    symbols: literalIn(trading, 'symbol_map') as Dict,
    sectors: literalIn(trading, 'sector_map') as Dict,
    routes: pairs(literalIn(travel, 'base_costs')),
    rates: pairs(literalIn(travel, 'exchange_rates')),
    airportByCity: literalIn(travel, 'airport_map') as Dict,
    airports: literalIn({ path: travel.path, text: `airports = ${airports}` }, 'airports') as Value[],
    zipcodes: new Dict(zipcodes.map(([, , city, , code]) => [city!, code!])),
    distances: distances.map(([, a, b, miles]) => [a!, b!, Number(miles)]),
    fillers: new Dict(FILLERS.map((name) => [name, literalIn(source('long_context'), name)])),
  };
}

function system(template: Value, style: Value, outputFormat: Value, types: Value): string {
  const text = (name: string) => at(style, name) as string;
  return filled(template as string, {
    persona: text('persona'),
    task: text('task'),
    tool_call_format: filled(text('tool_call_no_tag'), { output_format: outputFormat as string, param_types: types as string }),
    multiturn_behavior: text('multiturn_behavior'),
    available_tools: filled(text('available_tools'), { format: 'json' }),
  });
}

/** @param own the content of `prompts.json` */
export function promptsFromJson(own: Value): Prompts {
  const style = at(own, 'system_prompt');
  return {
    stepLimit: Number(at(own, 'maximum_step_limit')),
    system: system(at(style, 'template'), style, at(style, 'output_format'), at(style, 'param_types')),
    added: at(own, 'additional_function_fc') as string,
    addedFunctions: at(own, 'additional_function_prompting') as string,
    hint: at(own, 'function_hint') as string,
  };
}

/** @param utils the source of `bfcl_eval/utils.py` */
export function promptsFromSource(prompts: Source, utils: Source): Prompts {
  const hint = /return "( Note that the provided function is in Python 3 syntax\.)"/.exec(utils.text)?.[1];
  if (hint === undefined) throw new ImportError(utils.path, '_get_language_specific_hint', 'it returns no hint for Python');
  const added = literalIn(prompts, 'DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC');
  const names = new Map([['DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC', added]]);
  return {
    stepLimit: Number(literalIn(prompts, 'MAXIMUM_STEP_LIMIT')),
    system: system(
      literalIn(prompts, '_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE'),
      at(literalIn(prompts, 'PROMPT_STYLE_TEMPLATES'), 'classic'),
      at(literalIn(prompts, 'OUTPUT_FORMAT_MAPPING'), 'python'),
      at(literalIn(prompts, 'PARAM_TYPE_MAPPING'), 'python'),
    ),
    added: added as string,
    addedFunctions: literalIn(prompts, 'DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING', names) as string,
    hint,
  };
}
