/** A small benchmark in BFCL's file formats, with entries, tables and prompts of our own: texts by path. */
import { DOCUMENTS } from '../../src/benchmarks/bfcl/source-files.ts';

const lines = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n');
const says = (content: string) => [{ role: 'user', content }];

/** A document of a function. */
const doc = (name: string, properties: Record<string, { type: string; description: string }> = {}) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'dict', properties, required: Object.keys(properties) },
  response: { type: 'dict', properties: {} },
});
const text = { type: 'string', description: 'A text.' };
const DOCS: Record<string, unknown[]> = {
  gorilla_file_system: [doc('ls'), doc('cd', { folder: text }), doc('cat', { file_name: text }), doc('touch', { file_name: text })],
  trading_bot: [doc('fund_account', { amount: { type: 'float', description: 'An amount.' } }), doc('get_account_info')],
};

/** The balance is written by hand, because JSON.stringify would write 100. */
const account =
  '{"TradingBot": {"authenticated": true, "account_info": {"account_id": 7, "balance": 100.0, "binding_card": 9876543210123456}}}';
const files = {
  GorillaFileSystem: {
    root: {
      home: { type: 'directory', contents: { docs: { type: 'directory', contents: {} }, 'a.txt': { type: 'file', content: 'one\ntwo' } } },
    },
  },
};
const entry = (id: string, question: unknown[], config: string, involved: string[], more = '') =>
  `{"id": "${id}", "question": ${JSON.stringify(question)}, "initial_config": ${config}, "involved_classes": ${JSON.stringify(involved)}${more}}`;

const base = [
  entry('multi_turn_base_0', [says('Read a.txt.'), says('Make b.txt in docs.')], JSON.stringify(files), ['GorillaFileSystem']),
  entry('multi_turn_base_1', [says('Pay in fifty.')], account, ['TradingBot']),
].join('\n');
const missFunc = entry(
  'multi_turn_miss_func_0',
  [says('Read a.txt.'), [], says('List the files.')],
  JSON.stringify(files),
  ['GorillaFileSystem'],
  ', "missed_function": {"1": ["cat"]}',
);

const GOLD = {
  base: [
    { id: 'multi_turn_base_0', ground_truth: [["cat('a.txt')"], ["cd(folder='docs')", "touch(file_name='b.txt')"]] },
    { id: 'multi_turn_base_1', ground_truth: [['fund_account(50)']] },
  ],
  miss_func: [{ id: 'multi_turn_miss_func_0', ground_truth: [[], ["cat(file_name='a.txt')"], ['ls()']] }],
};

const sources: Record<string, string> = {
  long_context: [
    'WATCH_LIST_EXTENSION',
    'TRANSACTION_HISTORY_EXTENSION',
    'MA_5_EXTENSION',
    'MA_20_EXTENSION',
    'TECHNOLOGY_EXTENSION',
    'AUTOMOBILE_EXTENSION',
    'POPULATE_FILE_EXTENSION',
    'INTERMEDIARY_CITIES',
    'FILES_TAIL_USED',
  ]
    .map((name) => `${name} = ['X',  'Y', ...]`)
    .concat(
      ['FILE_CONTENT_EXTENSION', 'CAR_STATUS_METADATA_EXTENSION', 'PARKING_BRAKE_INSTRUCTION'].map((name) => `${name} = "it's " "long"`),
      ['ORDER_DETAIL_EXTENSION', 'LONG_WEATHER_EXTENSION', 'CREDIT_CARD_EXTENSION', 'BOOKING_RECORD_EXTENSION'].map(
        (name) => `${name} = {\n    'a': '''{symbol}''',  # a comment\n}`,
      ),
    )
    .join('\n'),
  message_api:
    "DEFAULT_STATE = {'generated_ids': set(), 'user_count': 1, 'user_map': {'Ann': 'USR001'}, 'inbox': [], 'message_count': 0, 'current_user': None}",
  posting_api:
    "DEFAULT_STATE = {'username': 'ann', 'password': 'x', 'authenticated': False, 'tweets': {}, 'comments': {}, 'retweets': {}, 'following_list': [], 'tweet_counter': 0}",
  ticket_api: "DEFAULT_STATE = {'ticket_queue': [], 'ticket_counter': 1, 'current_user': None}",
  trading_bot: `DEFAULT_STATE: dict = {
    "orders": {5: {"id": 5, "status": "Open"}}, "account_info": {"balance": 1.0}, "authenticated": False, "market_status": "Closed",
    "order_counter": 6, "stocks": {"XYZ": {"price": 2.5, "percent_change": -0.5}}, "watch_list": ["XYZ"], "transaction_history": [],
}
class TradingBot:
    def get_symbol_by_name(self, name):
        symbol_map = {"Xyz Corp": "XYZ"}
    def get_available_stocks(self, sector):
        sector_map = {"Technology": ["XYZ"]}
`,
  travel_booking: `DEFAULT_STATE = {'credit_card_list': {}, 'booking_record': {}, 'access_token': None}
class TravelAPI:
    def get_flight_cost(self):
        base_costs: Dict[Tuple[str, str], int] = {("AAA", "BBB"): 100, ("BBB", "AAA"): 7}
    def list_all_airports(self):
        """Lists."""
        return ["AAA", "BBB"]
    def rates(self):
        exchange_rates = {("USD", "EUR"): 0.8}
    def near(self):
        airport_map = {"Town": "AAA"}
`,
  vehicle_control: `DEFAULT_STATE = {'fuelLevel': 0.0, 'brakePedalForce': 0.0, '_slopeAngle': 0.0}
class VehicleControlAPI:
    def estimate_distance(self, cityA, cityB):
        if (cityA == "1" and cityB == "2") or (
            cityA == "2" and cityB == "1"
        ):
            distance = {"distance": 750.0}
    def zip(self, city):
        if city == "Old Town":
            return {"zipcode": "00001"}
`,
};

const prompts = `MAXIMUM_STEP_LIMIT = 20
OUTPUT_FORMAT_MAPPING = {"python": "[f(a=1)]"}
PARAM_TYPE_MAPPING = {"python": ""}
PROMPT_STYLE_TEMPLATES = {"classic": {"persona": "You call.", "task": "Call.", "tool_call_no_tag": "Write {output_format}. {param_types} Only that.",
  "multiturn_behavior": "Go on.", "available_tools": "As {format}:\\n{functions}\\n"}}
_PLAINTEXT_SYSTEM_PROMPT_TEMPLATE = (
    "{persona}{task}\\n\\n{tool_call_format}\\n\\n{multiturn_behavior}\\n\\n{available_tools}"
)
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC = "Here is more."
DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_PROMPTING = "{functions}\\n" + DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
`;

const package_ = 'bfcl_eval';
const source = `${package_}/eval_checker/multi_turn_eval/func_source_code`;

/** The files of the fixture, as in the Python package. */
export const bfclFixture: Record<string, string> = {
  [`${package_}/data/BFCL_v4_multi_turn_base.json`]: base,
  [`${package_}/data/BFCL_v4_multi_turn_miss_func.json`]: missFunc,
  [`${package_}/data/possible_answer/BFCL_v4_multi_turn_base.json`]: lines(GOLD.base),
  [`${package_}/data/possible_answer/BFCL_v4_multi_turn_miss_func.json`]: lines(GOLD.miss_func),
  ...Object.fromEntries(
    Object.values(DOCUMENTS).map((name) => [`${package_}/data/multi_turn_func_doc/${name}.json`, lines(DOCS[name] ?? [doc(`${name}_x`)])]),
  ),
  ...Object.fromEntries(Object.entries(sources).map(([name, code]) => [`${source}/${name}.py`, code])),
  [`${package_}/constants/default_prompts.py`]: prompts,
  [`${package_}/utils.py`]: 'def f():\n        return " Note that the provided function is in Python 3 syntax."\n',
};

/** The files for an import. */
export const fixtureFiles = (files = bfclFixture): [string, Uint8Array][] =>
  Object.entries(files).map(([path, content]) => [path, new TextEncoder().encode(content)]);
