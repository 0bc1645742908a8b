/**
 * @file The faults of telecom tasks. For each one: the actions that cause it and the actions that repair it. Names and groups
 * are those of tau2-bench. A task has at most one fault of each group.
 */
import type { Requestor } from '../../records/benchmark-task.ts';
import type { Json } from '../../records/json.ts';

/** The customer of a task, and the numbers that occur in the task. */
export interface Case {
  name: string;
  phone_number: string;
  customer_id: string;
  line_id: string;
  /** The overdue bill of a suspended line. */
  bill_id: string;
  /** The amount of data, in gigabytes, by which the usage is above the plan's limit. */
  exceeding_gb: number;
  /** The gigabytes that the user would buy. */
  refuel_gb: number;
}

export interface Step {
  requestor: Requestor;
  name: string;
  arguments: Record<string, Json>;
}

export interface Fault {
  breaks(about: Case): Step[];
  /** The actions that repair the fault. Null if no tool can repair it, so that the agent must transfer the customer to a human. */
  mends: ((about: Case) => Step[]) | null;
  abroad?: true;
}

const byUser = (name: string, args: Record<string, Json> = {}): Step => ({ requestor: 'user', name, arguments: args });
const byAgent = (name: string, args: Record<string, Json>): Step => ({ requestor: 'assistant', name, arguments: args });
const line = ({ customer_id, line_id }: Case) => ({ customer_id, line_id });

const search = byUser('simulate_network_search');
const enableRoaming = (about: Case) => byAgent('enable_roaming', line(about));
const resetApn = () => [byUser('reset_apn_settings'), byUser('reboot_device')];
const grant = (permission: string) => byUser('grant_app_permission', { app_name: 'messaging', permission });
const revoke = (permission: string) => byUser('remove_app_permission', { app_name: 'messaging', permission });
const exceed = (about: Case) => [byAgent('set_data_usage', { ...line(about), data_used_gb: about.exceeding_gb })];
const suspend = (contract_ended: boolean) => (about: Case) => [
  byAgent('suspend_line_for_overdue_bill', { ...line(about), new_bill_id: about.bill_id, contract_ended }),
  search,
];

function abroad(lineRoams: boolean, phoneRoams: boolean): Fault {
  return {
    abroad: true,
    breaks: (about) => [
      byUser('set_user_location', { abroad: true }),
      byUser(phoneRoams ? 'turn_roaming_on' : 'turn_roaming_off'),
      byAgent(lineRoams ? 'enable_roaming' : 'disable_roaming', line(about)),
      search,
    ],
    mends: (about) => [...(lineRoams ? [] : [enableRoaming(about)]), ...(phoneRoams ? [] : [byUser('toggle_roaming')])],
  };
}

export const FAULTS = {
  airplane_mode_on: { breaks: () => [byUser('turn_airplane_mode_on')], mends: () => [byUser('toggle_airplane_mode')] },
  unseat_sim_card: { breaks: () => [byUser('unseat_sim_card')], mends: () => [byUser('reseat_sim_card')] },
  lock_sim_card_pin: { breaks: () => [byUser('lock_sim_card', { mode: 'pin' })], mends: null },
  break_apn_settings: { breaks: () => [byUser('break_apn_settings')], mends: resetApn },
  overdue_bill_suspension: {
    breaks: suspend(false),
    mends: (about) => [
      byAgent('send_payment_request', { customer_id: about.customer_id, bill_id: about.bill_id }),
      byUser('make_payment'),
      byAgent('resume_line', line(about)),
      byUser('reboot_device'),
    ],
  },
  contract_end_suspension: { breaks: suspend(true), mends: null },
  user_abroad_roaming_enabled_off: abroad(true, false),
  user_abroad_roaming_disabled_on: abroad(false, true),
  user_abroad_roaming_disabled_off: abroad(false, false),
  data_mode_off: { breaks: () => [byUser('turn_data_off')], mends: () => [byUser('toggle_data')] },
  data_saver_mode_on: { breaks: () => [byUser('turn_data_saver_mode_on')], mends: () => [byUser('toggle_data_saver_mode')] },
  bad_network_preference: {
    breaks: () => [byUser('set_network_mode_preference', { mode: '2g_only' })],
    mends: () => [byUser('set_network_mode_preference', { mode: '4g_5g_preferred' })],
  },
  bad_vpn: { breaks: () => [byUser('break_vpn')], mends: () => [byUser('disconnect_vpn')] },
  data_usage_exceeded: { breaks: exceed, mends: (about) => [byAgent('refuel_data', { ...line(about), gb_amount: about.refuel_gb })] },
  // The user does not want to buy data.
  data_usage_exceeded_no_refuel: { breaks: exceed, mends: null },
  bad_wifi_calling: {
    breaks: () => [byUser('set_wifi_calling', { enabled: true, mms_over_wifi: true })],
    mends: () => [byUser('toggle_wifi_calling')],
  },
  break_apn_mms_setting: { breaks: () => [byUser('break_apn_mms_setting')], mends: resetApn },
  break_app_sms_permission: { breaks: () => [revoke('sms')], mends: () => [grant('sms')] },
  break_app_storage_permission: { breaks: () => [revoke('storage')], mends: () => [grant('storage')] },
  break_app_both_permissions: { breaks: () => [revoke('sms'), revoke('storage')], mends: () => [grant('sms'), grant('storage')] },
} satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
export type Intent = 'service_issue' | 'mobile_data_issue' | 'mms_issue';

const ROAMING: FaultName[] = ['user_abroad_roaming_enabled_off', 'user_abroad_roaming_disabled_on', 'user_abroad_roaming_disabled_off'];
const USAGE: FaultName[] = ['data_usage_exceeded', 'data_usage_exceeded_no_refuel'];

export const GROUPS: Record<Intent, FaultName[][]> = {
  service_issue: [
    ['airplane_mode_on'],
    ['unseat_sim_card'],
    ['lock_sim_card_pin'],
    ['break_apn_settings'],
    ['overdue_bill_suspension', 'contract_end_suspension'],
  ],
  mobile_data_issue: [
    ['airplane_mode_on'],
    ROAMING,
    ['data_mode_off'],
    ['data_saver_mode_on'],
    ['bad_network_preference'],
    ['bad_vpn'],
    USAGE,
  ],
  mms_issue: [
    ['airplane_mode_on'],
    ['unseat_sim_card'],
    ROAMING,
    ['data_mode_off'],
    USAGE,
    ['bad_network_preference'],
    ['bad_wifi_calling'],
    ['break_apn_mms_setting'],
    ['break_app_sms_permission', 'break_app_storage_permission', 'break_app_both_permissions'],
  ],
};
