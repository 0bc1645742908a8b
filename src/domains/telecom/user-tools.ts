/**
 * @file The thirty tools of the simulated user, with the behaviour of sierra-research/tau2-bench (MIT). Each tool changes the
 * phone and returns the text that the user reads.
 */
import { type Arguments, key, Refusal } from '../exact/arguments.ts';
import { text } from '../exact/model.ts';
import { floatRepr } from '../../python/text.ts';
import { pythonStr } from '../exact/python.ts';
import type { Parameters } from './calls.ts';
import {
  canSendMms,
  connectVpn,
  disconnectVpn,
  dropWifi,
  internetSpeed,
  searchNetwork,
  simStatus,
  statusBar,
  toggleAirplaneMode,
  type Phone,
} from './device.ts';
import { NETWORK_MODES, readApnSettings, type VpnDetails } from './schema.ts';

interface UserTool extends Parameters {
  run(phone: Phone, args: Arguments): string;
}

const NONE: readonly string[] = [];
const onOff = (on: boolean) => (on ? 'ON' : 'OFF');
const yesNo = (yes: boolean) => (yes ? 'Yes' : 'No');

/** A tool without arguments that returns only a text, without the status bar. */
const look = (run: (phone: Phone) => string): UserTool => ({ required: NONE, run });
/** A tool that changes the phone and then shows the status bar. */
const act = (required: readonly string[], run: UserTool['run']): UserTool => ({
  required,
  run: (phone, args) => `${run(phone, args)}\n${statusBar(phone)}`,
});
/** A tool that switches a setting. `search`: whether a change starts a network search. */
const toggle = (
  label: string,
  field: 'data_enabled' | 'roaming_enabled' | 'data_saver_mode' | 'wifi_enabled' | 'wifi_calling_enabled',
  search = false,
): UserTool =>
  act(NONE, (phone) => {
    phone.device[field] = !phone.device[field];
    if (search) searchNetwork(phone);
    return `${label} is now ${onOff(phone.device[field])}.`;
  });

/** The tools in upstream's order. */
export const USER_TOOLS: ReadonlyMap<string, UserTool> = new Map<string, UserTool>(
  Object.entries({
    check_status_bar: look(statusBar),
    check_network_status: look(checkNetworkStatus),
    check_network_mode_preference: look(({ device: { network_mode_preference: mode } }) => {
      if (mode === null) throw new Refusal('no network mode preference is set');
      return `Network Mode Preference: ${mode}`;
    }),
    set_network_mode_preference: act(['mode'], setNetworkModePreference),
    run_speed_test: look(runSpeedTest),
    toggle_airplane_mode: act(NONE, (phone) => {
      toggleAirplaneMode(phone);
      return `Airplane Mode is now ${onOff(phone.device.airplane_mode)}.`;
    }),
    check_sim_status: look(({ device }) => SIM_TEXTS[simStatus(device)]!),
    reseat_sim_card: act(NONE, (phone) => {
      phone.device.sim_card_missing = false;
      // Upstream has an assertion here that the SIM card is found.
      if (simStatus(phone.device) === 'missing') throw new Refusal('the SIM card is still missing');
      searchNetwork(phone);
      return 'SIM card re-seated successfully.';
    }),
    toggle_data: toggle('Mobile Data', 'data_enabled', true),
    toggle_roaming: toggle('Data Roaming', 'roaming_enabled', true),
    check_data_restriction_status: look(({ device }) =>
      device.data_saver_mode ? 'Data Saver mode is ON (limits data usage).' : 'Data Saver mode is OFF.',
    ),
    toggle_data_saver_mode: toggle('Data Saver Mode', 'data_saver_mode'),
    check_apn_settings: look(
      ({ device: { active_apn_settings: apn } }) =>
        `Current APN Name: ${apn.apn_name}\nMMSC URL (for picture messages): ${apn.mmsc_url || 'Not Set'}\n(These are technical settings, usually best left unchanged.)`,
    ),
    set_apn_settings: act(['apn_settings'], setApnSettings),
    // Sets only a flag. The settings are reset at the next reboot.
    reset_apn_settings: act(NONE, (phone) => {
      phone.device.active_apn_settings.reset_at_reboot = true;
      searchNetwork(phone);
      return 'APN settings will reset at reboot.';
    }),
    check_wifi_status: look(({ device }) => {
      if (!device.wifi_enabled) return 'Wi-Fi is turned OFF.';
      if (!device.wifi_connected) return 'Wi-Fi is ON but not connected to any network.';
      return `Wi-Fi is ON and connected to '${pythonStr(device.wifi_ssid)}'. Signal strength: ${device.wifi_signal_strength}.`;
    }),
    toggle_wifi: act(NONE, (phone) => {
      const { device } = phone;
      if (device.airplane_mode) return 'Cannot change Wi-Fi settings while Airplane Mode is ON.';
      device.wifi_enabled = !device.wifi_enabled;
      if (!device.wifi_enabled) dropWifi(device);
      return `Wi-Fi is now ${onOff(device.wifi_enabled)}.`;
    }),
    check_wifi_calling_status: look(({ device }) => `Wi-Fi Calling is currently turned ${onOff(device.wifi_calling_enabled)}.`),
    toggle_wifi_calling: toggle('Wi-Fi Calling', 'wifi_calling_enabled'),
    check_vpn_status: look(checkVpnStatus),
    connect_vpn: {
      required: NONE,
      run: (phone) => {
        // Quirk: of the tools that change the phone, this is the only answer without the status bar.
        if (phone.device.vpn_connected) return 'VPN already connected.';
        connectVpn(phone);
        return `VPN connected successfully.\n${statusBar(phone)}`;
      },
    },
    disconnect_vpn: act(NONE, (phone) => {
      if (!phone.device.vpn_connected) return 'No active VPN connection to disconnect.';
      disconnectVpn(phone);
      return 'VPN disconnected successfully.';
    }),
    check_installed_apps: look(
      ({ device }) => `The following apps are installed on the phone: ${Object.keys(device.app_statuses).join(', ')}`,
    ),
    check_app_status: {
      required: ['app_name'],
      run: (phone, { app_name }) => {
        const granted = grantedPermissions(phone, app_name!);
        if (!granted) return `App '${pythonStr(app_name!)}' not found on this phone.`;
        return [
          `Status for App: ${app_name as string}`,
          ...(granted.length ? [' - Permissions Granted:', ...granted.map((name) => `   - ${name}`)] : [' - Permissions: None granted.']),
        ].join('\n');
      },
    },
    check_app_permissions: {
      required: ['app_name'],
      run: (phone, { app_name }) => {
        const granted = grantedPermissions(phone, app_name!);
        if (!granted) return `App '${pythonStr(app_name!)}' not found on this phone.`;
        return granted.length
          ? `App '${app_name as string}' has permission for: ${granted.join(', ')}.`
          : `App '${app_name as string}' currently has no permissions granted.`;
      },
    },
    grant_app_permission: act(['app_name', 'permission'], grantAppPermission),
    can_send_mms: look((phone) => `Your messaging app ${canSendMms(phone) ? 'can' : 'cannot'} send MMS messages.`),
    reboot_device: act(NONE, (phone) => {
      const resets = phone.device.active_apn_settings.reset_at_reboot;
      if (resets) phone.device.active_apn_settings = readApnSettings({});
      searchNetwork(phone);
      return `${resets ? 'Resetting APN settings...\n' : ''}Restarting network services...`;
    }),
    check_payment_request: look(({ surroundings: { payment_request: request } }) =>
      request
        ? `You have a payment request for bill ${request.bill_id} of ${floatRepr(request.amount_due)} USD.`
        : 'No payment request has been made.',
    ),
    make_payment: look(({ surroundings: { payment_request: request } }) => {
      if (!request) return 'You do not have a payment request.';
      request.paid = true;
      return `Payment of ${floatRepr(request.amount_due)} USD has been made for bill ${request.bill_id}.`;
    }),
  } satisfies Record<string, UserTool>),
);

const SIM_TEXTS: Record<string, string> = {
  active: 'Your SIM card is active and working.',
  missing: 'No SIM card detected in the phone.',
  locked_pin: 'The SIM card is locked with a PIN code.',
  locked_puk: 'The SIM card is locked with a PUK code.',
};

function checkNetworkStatus({ device }: Phone): string {
  return [
    `Airplane Mode: ${onOff(device.airplane_mode)}`,
    `SIM Card Status: ${simStatus(device)}`,
    `Cellular Connection: ${device.network_connection_status}`,
    `Cellular Signal: ${device.network_signal_strength}`,
    `Cellular Network Type: ${device.network_technology_connected}`,
    `Mobile Data Enabled: ${yesNo(device.data_enabled)}`,
    `Data Roaming Enabled: ${yesNo(device.roaming_enabled)}`,
    `Wi-Fi Radio: ${onOff(device.wifi_enabled)}`,
    `Wi-Fi Connected: ${yesNo(device.wifi_connected)}`,
    ...(device.wifi_connected ? [`Connected Wi-Fi Network: ${pythonStr(device.wifi_ssid)}`] : []),
  ].join('\n');
}

function setNetworkModePreference(phone: Phone, { mode }: Arguments): string {
  const wanted = mode === null ? null : (text(mode, 'mode') as string);
  const valid = (NETWORK_MODES as readonly (string | null)[]).includes(wanted);
  // Quirk: null is stored and the phone searches with it, although the answer says that null is not a valid mode.
  if (valid || wanted === null) {
    phone.device.network_mode_preference = wanted;
    searchNetwork(phone);
  }
  // The tool answers an invalid mode with a text, not with an error.
  return valid
    ? `Preferred Network Mode set to: ${wanted}`
    : `Failed to set network mode: '${pythonStr(wanted)}' is not a valid option. Please use one of: ${NETWORK_MODES.join(', ')}`;
}

const ADVICE: Record<string, string> = {
  'very poor': '(Very Poor). Connection is very slow. Basic web browsing might be difficult.',
  poor: '(Poor). Connection is slow. Web browsing may be sluggish, streaming difficult.',
  fair: '(Fair). Connection is okay for web browsing and some standard definition streaming.',
  good: '(Good). Connection is good for most activities, including HD streaming.',
  excellent: '(Excellent). Connection is very fast.',
};

function runSpeedTest(phone: Phone): string {
  const speed = internetSpeed(phone);
  return speed ? `Speed Test Result: ${speed.mbps.toFixed(2)} Mbps ${ADVICE[speed.grade]!}` : 'Speed test failed: No Connection.';
}

/** Upstream stores a string, or a mode of a wrong type, before it fails. Here a refused call changes nothing. */
function setApnSettings(phone: Phone, { apn_settings }: Arguments): string {
  const settings = readApnSettings(apn_settings!);
  phone.device.active_apn_settings = settings;
  searchNetwork(phone);
  return `APN settings set to: ${settings.apn_name}`;
}

/** Upstream prints a Python dictionary in which an enumeration value is printed by `repr`. */
function checkVpnStatus({ device }: Phone): string {
  if (device.vpn_connected)
    return device.vpn_details
      ? `VPN is ON and connected. Details: ${pythonDetails(device.vpn_details)}`
      : 'VPN is ON and connected (no specific details available).';
  return device.vpn_enabled_setting ? 'VPN is turned ON in settings, but currently not connected.' : 'VPN is turned OFF.';
}

function pythonDetails({ server_address, protocol, server_performance }: VpnDetails): string {
  const performance = `<PerformanceLevel.${server_performance.toUpperCase()}: '${server_performance}'>`;
  return `{'server_address': ${pythonStr(server_address, true)}, 'protocol': ${pythonStr(protocol, true)}, 'server_performance': ${performance}}`;
}

/** Finds an app. Its name must match exactly: `Messaging` is not an app. @throws {Refusal} on a list or an object */
function appOf({ device }: Phone, value: Arguments[string]) {
  const name = key(value, 'app_name');
  return Object.hasOwn(device.app_statuses, name) ? device.app_statuses[name] : undefined;
}

function grantedPermissions(phone: Phone, name: Arguments[string]): string[] | undefined {
  const app = appOf(phone, name);
  return app && Object.keys(app.permissions).filter((permission) => app.permissions[permission]);
}

/** Upstream answers a wrong call with a text, not with an error, and prints permissions as a Python list. */
function grantAppPermission(phone: Phone, { app_name, permission }: Arguments): string {
  const app = appOf(phone, app_name!);
  const name = (text(permission, 'permission') as string).toLowerCase();
  if (!app) return `Error. App '${pythonStr(app_name!)}' not found. Cannot grant permission.`;
  if (!Object.hasOwn(app.permissions, name)) {
    return `Error. Permission '${name}' not tracked for app '${app_name as string}', available permissions: ${pythonStr(Object.keys(app.permissions))}`;
  }
  app.permissions[name] = true;
  return `Success. Permission '${name}' granted to app '${app_name as string}'.`;
}
