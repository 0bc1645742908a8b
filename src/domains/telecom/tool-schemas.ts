/** @file JSON schemas of the tools, with upstream's names, types and titles, but with our descriptions. */
import type { Json } from '../../records/json.ts';
import type { ToolSchema } from '../../records/task.ts';
import { NETWORK_MODES } from './schema.ts';

interface Sketch {
  description: string;
  properties?: Record<string, Json>;
  optional?: readonly string[];
  defs?: Record<string, Json>;
}

/** Makes a title from a name: `phone_number` becomes `Phone Number`. */
const title = (name: string) =>
  name
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join(' ');
const text = (name: string, description?: string): Json => ({ ...(description && { description }), title: title(name), type: 'string' });

function schema(name: string, { description, properties = {}, optional = [], defs }: Sketch): ToolSchema {
  const required = Object.keys(properties).filter((property) => !optional.includes(property));
  // Like upstream, omit `required` if no argument is required.
  const parameters = {
    ...(defs && { $defs: defs }),
    properties,
    ...(required.length && { required }),
    title: 'parameters',
    type: 'object',
  };
  return { type: 'function', function: { name, description, parameters: parameters as unknown as ToolSchema['function']['parameters'] } };
}

const customerId = text('customer_id', 'Id of the customer.');
const onLine = (what: string): Record<string, Json> => ({
  customer_id: text('customer_id', 'Id of the customer who owns the line.'),
  line_id: text('line_id', what),
});

const AGENT: Record<string, Sketch> = {
  get_customer_by_phone: {
    description: 'Find a customer by phone number: the contact number or that of any line.',
    properties: { phone_number: text('phone_number', 'The number, with dashes.') },
  },
  get_customer_by_id: { description: 'Show a customer.', properties: { customer_id: customerId } },
  get_customer_by_name: {
    description: 'Find customers by name and date of birth.\n\nSeveral may answer to one name; the date tells them apart.',
    properties: { full_name: text('full_name', 'First and last name.'), dob: text('dob', 'Date of birth, YYYY-MM-DD.') },
  },
  get_details_by_id: {
    description:
      'Show a record by its id.\n\nCustomers, lines, devices, bills and plans can be shown; the first letter of the id tells which.',
    properties: { id: text('id', 'Id of the record.') },
  },
  suspend_line: {
    description: 'Suspend an active line, for at most six months.\n\nThe line loses service until it is resumed.',
    properties: { ...onLine('Id of the line to suspend.'), reason: text('reason', 'Why it is suspended.') },
  },
  resume_line: {
    description: 'Resume a line that is suspended or not yet activated.\n\nThe line becomes active again.',
    properties: onLine('Id of the line to resume.'),
  },
  get_bills_for_customer: {
    description: "Show a customer's bills, newest first.",
    optional: ['limit'],
    properties: {
      customer_id: customerId,
      limit: { default: 12, description: 'How many bills at most.', title: 'Limit', type: 'integer' },
    },
  },
  send_payment_request: {
    description:
      'Ask a customer to pay a bill.\n\nThe bill must be one of the customer, and no other bill may await payment. Whether it is paid already is not checked: look at the bill first.',
    properties: {
      customer_id: text('customer_id', 'Id of the customer who owns the bill.'),
      bill_id: text('bill_id', 'Id of the bill to be paid.'),
    },
  },
  get_data_usage: {
    description:
      'Show the data used by a line in this billing cycle.\n\nAlso what was refuelled, the limit of the plan, and the end of the cycle.',
    properties: onLine('Id of the line.'),
  },
  enable_roaming: { description: 'Allow a line to be used abroad.', properties: onLine('Id of the line.') },
  disable_roaming: { description: 'Stop a line from being used abroad.', properties: onLine('Id of the line.') },
  transfer_to_human_agents: {
    description: 'Hand over to a human.\n\nOnly when the user asks for it, or when policy and tools leave no other way.',
    properties: { summary: text('summary', 'What the user wants and what was tried.') },
  },
  refuel_data: {
    description:
      "Add data to a line and charge the customer for it.\n\nThe line must be an active one of the customer; the price a gigabyte is that of the line's plan.",
    properties: { ...onLine('Id of the line.'), gb_amount: { description: 'Gigabytes to add.', title: 'Gb Amount', type: 'number' } },
  },
};

const nullable = (type: string, name: string, description: string, fallback: Json): Json => ({
  anyOf: [{ type }, { type: 'null' }],
  default: fallback,
  description,
  title: title(name),
});

const APN_DEFS: Record<string, Json> = {
  APNNames: { enum: ['internet', 'broken'], title: 'APNNames', type: 'string' },
  APNSettings: {
    additionalProperties: false,
    description: 'Settings of an access point.',
    title: 'APNSettings',
    type: 'object',
    properties: {
      apn_name: { $ref: '#/$defs/APNNames', default: 'internet', description: 'Name of the access point.' },
      reset_at_reboot: {
        default: false,
        description: 'Whether a restart brings the default settings back.',
        title: 'Reset At Reboot',
        type: 'boolean',
      },
      mms_apn: nullable('string', 'mms_apn', 'Access point for picture messages.', 'mms'),
      mmsc_url: nullable(
        'string',
        'mmsc_url',
        'Address of the message centre; without it no picture message can be sent.',
        'http://mms.carrier.com/mms/wapenc',
      ),
      mms_proxy: nullable('string', 'mms_proxy', 'Proxy for picture messages, where the network needs one.', null),
      mms_port: nullable('integer', 'mms_port', 'Port of that proxy.', null),
    },
  },
};

const USER: Record<string, Sketch> = {
  check_status_bar: {
    description: "Look at the icons in your phone's status bar: signal, network, mobile data, data saver, Wi-Fi, VPN and battery.",
  },
  check_network_status: {
    description: 'Look at the state of your connections: airplane mode, SIM card, cellular network, mobile data, roaming and Wi-Fi.',
  },
  check_network_mode_preference: { description: 'See which kind of cellular network your phone prefers.' },
  set_network_mode_preference: {
    description: 'Choose the kind of cellular network your phone prefers. Newer networks are faster and use more battery.',
    properties: { mode: { anyOf: [{ $ref: '#/$defs/NetworkModePreference' }, { type: 'string' }], title: 'Mode' } },
    defs: { NetworkModePreference: { enum: [...NETWORK_MODES], title: 'NetworkModePreference', type: 'string' } },
  },
  run_speed_test: { description: 'Measure the download speed of your connection and see what it is good for.' },
  toggle_airplane_mode: { description: 'Switch airplane mode on or off. While it is on, nothing is connected.\n\nShows the new state.' },
  check_sim_status: { description: 'See whether your SIM card works, is missing, or is locked with a PIN or PUK.' },
  reseat_sim_card: { description: 'Take your SIM card out and put it back in.' },
  toggle_data: { description: 'Switch mobile data on or off.\n\nShows the new state.' },
  toggle_roaming: { description: 'Switch data roaming on or off. While it is on, you can use data abroad.\n\nShows the new state.' },
  check_data_restriction_status: { description: 'See whether the data saver limits your data.' },
  toggle_data_saver_mode: { description: 'Switch the data saver on or off. It saves data and costs speed.\n\nShows the new state.' },
  check_apn_settings: { description: 'See the name of your access point and the address for picture messages.' },
  set_apn_settings: {
    description: 'Set the access point settings.',
    defs: APN_DEFS,
    properties: {
      apn_settings: { anyOf: [{ $ref: '#/$defs/APNSettings' }, { additionalProperties: true, type: 'object' }], title: 'Apn Settings' },
    },
  },
  reset_apn_settings: { description: 'Have the access point settings go back to their defaults at the next restart.' },
  check_wifi_status: { description: 'See whether Wi-Fi is on, and which network it is connected to.' },
  toggle_wifi: { description: 'Switch Wi-Fi on or off.\n\nShows the new state.' },
  check_wifi_calling_status: { description: 'See whether calls can go over Wi-Fi.' },
  toggle_wifi_calling: { description: 'Switch calls over Wi-Fi on or off.\n\nShows the new state.' },
  check_vpn_status: { description: 'See whether a VPN is connected, and how it performs.' },
  connect_vpn: { description: 'Connect to your VPN.' },
  disconnect_vpn: { description: 'Disconnect from the VPN.' },
  check_installed_apps: { description: 'List the apps on your phone.' },
  check_app_status: { description: 'Look at an app and what it is allowed to do.', properties: { app_name: text('app_name') } },
  check_app_permissions: { description: 'List what an app is allowed to do.', properties: { app_name: text('app_name') } },
  grant_app_permission: {
    description: 'Allow something to an app.',
    properties: { app_name: text('app_name', 'Name of the app.'), permission: text('permission', 'What to allow, in lower case.') },
  },
  can_send_mms: { description: 'See whether your messaging app can send picture messages.' },
  reboot_device: { description: 'Restart your phone. Its network services start anew.' },
  check_payment_request: { description: 'See whether the agent has asked you to pay a bill.' },
  make_payment: { description: 'Pay the bill that the agent has asked you to pay.' },
};

const all = (sketches: Record<string, Sketch>) => Object.entries(sketches).map(([name, sketch]) => schema(name, sketch));

export const AGENT_SCHEMAS: readonly ToolSchema[] = all(AGENT);
export const USER_SCHEMAS: readonly ToolSchema[] = all(USER);
