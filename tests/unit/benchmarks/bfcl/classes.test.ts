/** BFCL's classes on configs of our own. tests/reference/bfcl_cases.py has written the results of the original code. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Instances } from '../../../../src/domains/multiturn/instances.ts';
import { portableState } from '../../../../src/domains/multiturn/portable.ts';
import type { Tables } from '../../../../src/domains/multiturn/tables.ts';
import { loads } from '../../../../src/python/json.ts';
import { Dict, dict, ELLIPSIS, PySet } from '../../../../src/python/values.ts';

interface Case {
  class: string;
  /** JSON, in which 5 and 5.0 differ. */
  config: string;
  calls: string[];
  results: string[];
  state: Record<string, unknown>;
}
const { cases } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../reference/fixtures/bfcl/cases.json'), 'utf8')) as {
  cases: Case[];
};

const tables: Tables = {
  states: dict({ MessageAPI: dict({ generated_ids: new PySet() }) }),
  symbols: dict({ 'Xyz Corp': 'XYZ' }),
  sectors: dict({ Technology: ['XYZ'] }),
  routes: [
    ['AAA', 'BBB', 100n],
    ['BBB', 'CCC', 7n],
  ],
  rates: [['USD', 'EUR', 0.8]],
  airportByCity: dict({ Town: 'AAA' }),
  airports: ['AAA', 'BBB', 'CCC'],
  zipcodes: dict({ 'Old Town': '00001' }),
  distances: [['00001', '00002', 12.5]],
  fillers: dict({
    FILES_TAIL_USED: ['plain.txt'],
    FILE_CONTENT_EXTENSION: '+long',
    POPULATE_FILE_EXTENSION: ['x.jpg'],
    TECHNOLOGY_EXTENSION: ['MORE'],
    WATCH_LIST_EXTENSION: ['MORE', ELLIPSIS],
    CREDIT_CARD_EXTENSION: dict({ c9: dict({ balance: 1000 }) }),
    BOOKING_RECORD_EXTENSION: dict({ b9: dict({}) }),
    CAR_STATUS_METADATA_EXTENSION: 'car',
    LONG_WEATHER_EXTENSION: dict({ day: 1n }),
    INTERMEDIARY_CITIES: ['Via'],
    ORDER_DETAIL_EXTENSION: dict({ about: 'All about {symbol}.' }),
  }),
};

function object(className: string, config: Dict, longContext = false) {
  const own = new Instances({ involved: [className], config: new Dict([[className, config]]), longContext }, tables);
  return { own, run: (call: string) => own.run(call).text };
}

describe('the original results', () => {
  it.each(cases.map((one, i) => [`${one.class} ${i}`, one] as const))('%s', (_, { class: className, config, calls, results, state }) => {
    const { own, run } = object(className, loads(config) as Dict);
    expect(calls.map((call) => [call, run(call)])).toEqual(calls.map((call, i) => [call, results[i]]));
    expect(portableState(own.state())[className]).toEqual(state);
  });
});

describe('results from the tables', () => {
  it('prices flights by route, class and the digits of the date', () => {
    const { run } = object('TravelAPI', loads('{"credit_card_list": {"1": {"balance": 400.0}}, "booking_record": {}}') as Dict);
    // 2024-01-01 has the digit sum 10, which is even, so the price doubles.
    expect(run("get_flight_cost('AAA','BBB','2024-01-01','business')")).toBe('{"travel_cost_list": [400.0]}');
    expect(run("get_flight_cost('BBB','CCC','2024-01-02','first')")).toBe('{"travel_cost_list": [35.0]}');
    expect(run("get_flight_cost('BBB','AAA','2024-01-02','first')")).toBe(
      'Error during execution: No available route for the given airports.',
    );
    expect(run("book_flight(None,'1','2024-13-01','AAA','BBB','first')")).toBe(
      '{"booking_status": false, "error": "Invalid date format. Use YYYY-MM-DD."}',
    );
    expect(run("book_flight(None,'1','2024-01-01','AAA','BBB','first')")).toBe('{"booking_status": false, "error": "Insufficient funds"}');
    expect(run("book_flight(None,'1','2024-01-01','AAA','BBB','business')")).toContain('"booking_status": true, "booking_history": {}}');
    expect(run("get_credit_card_balance(None,'1')")).toBe('{"card_balance": 0.0}');
    expect(run("get_nearest_airport_by_city('Town')")).toBe('{"nearest_airport": "AAA"}');
  });

  it('adds the fillers of the long context', () => {
    const files = loads(
      '{"root": {"home": {"contents": {"plain.txt": {"type": "file", "content": "a"}, "b.txt": {"type": "file", "content": "b"}}}}}',
    ) as Dict;
    const disk = object('GorillaFileSystem', files, true);
    expect(disk.run('ls()')).toBe('{"current_directory_content": ["plain.txt", "b.txt", "x.jpg"]}');
    expect([disk.run("cat('plain.txt')"), disk.run("cat('b.txt')")]).toEqual(['{"file_content": "a"}', '{"file_content": "b+long"}']);
    const bot = object(
      'TradingBot',
      loads('{"orders": {"5": {"symbol": "XYZ"}}, "authenticated": true, "watch_list": ["A"]}') as Dict,
      true,
    );
    expect(bot.run('get_watchlist()')).toBe("['A', 'MORE', Ellipsis]");
    expect(bot.run("get_available_stocks('Technology')")).toBe('{"stock_list": ["XYZ", "MORE"]}');
    expect(bot.run('get_order_details(5)')).toBe('{"symbol": "XYZ", "metadata": {"about": "All about XYZ."}}');
    const travel = object('TravelAPI', loads('{"credit_card_list": {}, "booking_record": {}}') as Dict, true);
    expect(travel.run('get_all_credit_cards()')).toBe('{"credit_card_list": {"c9": {"balance": 1000.0}}}');
    const car = object('VehicleControlAPI', loads('{"doorStatus": {}}') as Dict, true);
    expect(car.run("estimate_distance('00002','00001')")).toBe('{"distance": 12.5, "intermediaryCities": ["Via"]}');
    expect(car.run("displayCarStatus('x')")).toBe('{"metadata": "car", "error": "Invalid option"}');
  });
});

describe('calls', () => {
  const { own, run } = object('GorillaFileSystem', new Dict());
  it.each([
    'ls',
    '5',
    '',
    'ls().keys()',
    'touch(ls())',
    "touch('a' 'b')",
    "touch('''a''')",
    "touch(f'a')",
    'touch(2**10)',
    "touch(('a',))",
    "touch(**{'file_name': 'a'})",
    'touch([x for x in y])',
    "__import__('os').system('x')",
    'touch(nan)',
    "touch('a', 'b')",
    "touch(file_name='a', file_name='b')",
    "touch(name='a')",
    "echo('see sort (x)', 'a')",
    "touch('a') + 1",
    "touch('a'",
  ])('refuses %s and changes nothing', (call) => {
    const before = JSON.stringify(portableState(own.state()));
    expect(run(call)).toMatch(/^Error during execution: /);
    expect(JSON.stringify(portableState(own.state()))).toBe(before);
  });

  it('refuses names as upstream does, and deletes spaces before brackets', () => {
    expect(run("cd(folder='a', folder='b')")).toBe('Error during execution: keyword argument repeated: folder');
    expect(run('kill()')).toBe('Error during execution: Function call kill is not allowed.');
    expect(run("echo (content='hello (world)')")).toBe('{"terminal_output": "hello(world)"}');
  });
});

describe('a directory that contains itself', () => {
  /** A file system whose root contains itself as `b` and as `c`. */
  const disk = () => {
    const made = object('GorillaFileSystem', new Dict());
    for (const call of ["touch('.')", "mv('.', 'b')", "touch('.')", "mv('.', 'c')"]) made.run(call);
    return made;
  };

  it('is in the state once on each path', () => {
    expect(portableState(disk().own.state()).GorillaFileSystem!.root).toEqual({
      __dir__: '/',
      contents: { b: { __dir__: 'b', contents: '…' }, c: { __dir__: 'c', contents: '…' } },
    });
  });

  it('ends a search and a comparison, as in Python', () => {
    const { own, run } = disk();
    expect(run('ls()')).toBe('{"current_directory_content": ["b", "c"]}');
    for (const call of ["find(name='x')", 'du()']) expect(run(call)).toBe('Error during execution: maximum recursion depth exceeded');
    expect(own.differenceFrom(disk().own)).toEqual({ className: 'GorillaFileSystem', attributes: ['root'] });
  });
});
