/** A small benchmark in ACEBench's file formats, with tasks, tables and prompts of our own: texts by path. */
const lines = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n');

const func = (name: string, properties: Record<string, { type: string; description: string }> = {}) => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'dict', properties, required: Object.keys(properties) },
});
const FUNCTIONS = [func('turn_on_wifi'), func('delete_message', { message_id: { type: 'integer', description: 'A number.' } })];

const turn = (id: number, question: string, involved: string[], config: object) => ({
  id: `agent_multi_turn_${id}`,
  question,
  initial_config: config,
  path: [],
  function: FUNCTIONS,
  involved_classes: involved,
});
const OFF = { BaseApi: { wifi: false, logged_in: true } };

const message = (n: number, sent: string) => ({ sender_id: 'P1', receiver_id: 'P2', message: sent, time: `2024-01-0${n}` });
const phone = (wifi: boolean) => ({ BaseApi: { wifi, logged_in: true } });

const QUESTIONS = {
  multi_turn: [turn(0, 'Delete the first message.', ['BaseApi', 'MessageApi'], OFF), turn(1, 'Book a flight.', ['Travel'], {})],
  multi_step: [{ ...turn(0, 'Turn on the wifi.', ['BaseApi', 'ReminderApi'], OFF), id: 'agent_multi_step_0' }],
};
const users = (cash: number) => ({
  u1: { user_name: 'Ann', password: 'p', cash_balance: cash, bank_balance: 50, membership_level: 'regular' },
});
const ANSWERS = {
  multi_turn: [
    {
      id: 'agent_multi_turn_0',
      ground_truth: [phone(true), { MessageApi: { inbox: { 2: message(2, 'Second') } } }],
      mile_stone: ['[turn_on_wifi()]', '[delete_message(message_id=1)]'],
    },
    {
      id: 'agent_multi_turn_1',
      ground_truth: {
        Travel: {
          users: users(900),
          reservations: [
            { reservation_id: 'res_1', user_id: 'u1', flight_no: 'A1', payment_method: 'cash', cabin: 'Economy Class', baggage: 1 },
          ],
        },
      },
      mile_stone: [
        [
          "[get_user_details(user_id='u1', password='p')]",
          "[reserve_flight(user_id='u1', password='p', flight_no='A1', cabin='Business Class', payment_method='cash', baggage_count=1)]",
          '[x()]',
        ],
        ["[reserve_flight(user_id='u1', password='p', flight_no='A1', cabin='Economy Class', payment_method='cash', baggage_count=1)] "],
      ],
    },
  ],
  // The second class is misspelt, so the verdict of the first one counts for it.
  multi_step: [
    {
      id: 'agent_multi_step_0',
      ground_truth: [phone(true), { Reminders: {} }],
      mile_stone: ["[add_reminder(title='Ann's list', description='x', time='y')]", '[turn_on_wifi()]'],
    },
  ],
};

const PHONE = `class MessageApi(BaseApi):
    def __init__(self):
        super().__init__()
        self.max_capacity = 3
        self.user_list: Dict[str, Dict[str, str]] = {
            "Ann": {"user_id": "P1"},
            "Bob": {"user_id": "P2"},  # a comment
        }
        self.inbox: Dict[int, Dict[str, str]] = {
            1: {"sender_id": "P1", "receiver_id": "P2", "message": "First", "time": "2024-01-01"},
            2: {"sender_id": "P1", "receiver_id": "P2", "message": """Second""", "time": "2024-01-02"},
        }
        self.message_id_counter: int = 2
`;
const REMINDER = `class ReminderApi(BaseApi):
    def __init__(self):
        self.max_capacity = 2
        self.reminder_list = {1: {"reminder_id": 1001, "title": "List", "description": "Milk", "time": "2024-01-01 10:00", "notified": False}}
        self.reminder_id_counter: int = 1
`;
const FOOD = `class FoodPlatform(BaseApi):
    def __init__(self):
        self.users = {"Ann": {"user_id": "U1", "password": "p", "balance": 20.0}}
        self.merchant_list = {"Corner": {"menu": [{"product": "Soup", "price": 10.0}]}}
        self.logged_in_users: List[str] = []
        self.orders: List[Dict[str, Union[str, int]]] = []
`;
const travel = (economy: string) => `class Travel:
    def __init__(self):
        self.users = {"u1": {"user_name": "Ann", "password": "p", "cash_balance": 1000.0, "bank_balance": 50.0, "membership_level": "regular"}}
        self.flights = [
            {"flight_no": "A1", "origin": "X", "destination": "Y", "depart_time": "2024-07-15 08:00:00", "arrival_time": "2024-07-15 09:00:00",
             "status": "available", "seats_available": 5, "economy_price": 100, "business_price": 300}
        ]
        self.reservations = []
        # ${economy}
`;

const prompts = (language: string) => ({
  'multi_turn/common_agent.py': `MULTI_TURN_AGENT_PROMPT_SYSTEM_${language} = """${language} role.
"""
MULTI_TURN_AGENT_PROMPT_USER_${language} = """APIs:\\n {functions}\\n\\nSo far:\\n{history}"""
`,
  'multi_step/common_agent_step.py': `MULTI_TURN_AGENT_PROMPT_SYSTEM_${language} = """${language} steps."""
MULTI_TURN_AGENT_PROMPT_USER_${language} = """APIs {functions}. So far: {history}\\n"""
`,
  [`prompt_${language.toLowerCase()}.py`]: `TRAVEL_PROMPT_${language} = """${language} travel."""
BASE_PROMPT_${language} = """${language} phone."""
`,
});
const simulator = `SYSTEM_PROMPT_TRAVEL_ZH = """ZH flies: {instruction}"""
SYSTEM_PROMPT_BASE_ZH = """ZH calls: {instruction}"""
SYSTEM_PROMPT_TRAVEL_EN = """EN flies: {instruction}"""
SYSTEM_PROMPT_BASE_EN = """EN calls: {instruction}"""
class APIUSER():
    def get_init_prompt(self, question):
        if self.language == "zh":
            self.messages = [
                {
                    "role": "user",
                    "content": "有什么事？",
                }]
        elif self.language == "en":
            self.messages = [
                {
                    "role": "user",
                    "content": "What is it?",
                }]
`;

const inLanguage = (language: 'en' | 'zh'): Record<string, string> => ({
  ...Object.fromEntries(
    (['multi_turn', 'multi_step'] as const).flatMap((kind) => [
      [`data_all/data_${language}/data_agent_${kind}.json`, lines(QUESTIONS[kind])],
      [`data_all/data_${language}/possible_answer/data_agent_${kind}.json`, lines(ANSWERS[kind])],
    ]),
  ),
  [`model_inference/multi_turn/scenarios${language}/phone_platform/message.py`]: PHONE,
  [`model_inference/multi_turn/scenarios${language}/phone_platform/reminder.py`]: REMINDER,
  [`model_inference/multi_turn/scenarios${language}/phone_platform/food_services.py`]: FOOD,
  [`model_inference/multi_turn/scenarios${language}/travel.py`]: travel(language),
});

/** Texts of two files with the same name stand one after another. */
function joined(...parts: Record<string, string>[]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const part of parts)
    for (const [name, own] of Object.entries(part)) all[`model_inference/${name}`] = (all[`model_inference/${name}`] ?? '') + own;
  return all;
}

/** The files of the fixture, as in ACEBench's repository. */
export const aceFixture: Record<string, string> = {
  ...inLanguage('en'),
  ...inLanguage('zh'),
  ...joined(prompts('EN'), prompts('ZH'), { 'multi_turn/APIModel_user.py': simulator }),
  'README.md': 'ACEBench',
};

/** The files for an import. */
export const aceFixtureFiles = (files = aceFixture): [string, Uint8Array][] =>
  Object.entries(files).map(([path, content]) => [path, new TextEncoder().encode(content)]);
