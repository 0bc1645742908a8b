/**
 * @file The thirty tools that the simulated user has on the phone, as sierra-research/tau2-bench (MIT) behaves. Each
 * changes the phone in place and returns what the user reads.
 */
import type { Arguments } from '../exact/arguments.ts';
import { text } from '../exact/model.ts';
import { floatRepr, pythonStr } from '../exact/python.ts';
import type { Parameters } from './calls.ts';
import { canSendMms, connectVpn, disconnectVpn, internetSpeed, searchNetwork, setAirplaneMode, simStatus, statusBar, type Phone } from './device.ts';
import { NETWORK_MODES, readApnSettings, type VpnDetails } from './schema.ts';

interface UserTool extends Parameters { run(phone: Phone, args: Arguments): string }

const NONE: readonly string[] = [];
const onOff = (on: boolean) => (on ? 'ON' : 'OFF');
const yesNo = (yes: boolean) => (yes ? 'Yes' : 'No');

/** A tool without arguments that only looks. */
const look = (run: (phone: Phone) => string): UserTool => ({ required: NONE, run });
/** A tool that acts, then shows the status bar. */
const act = (required: readonly string[], run: UserTool['run']): UserTool => ({ required, run: (phone, args) => `${run(phone, args)}\n${statusBar(phone)}` });
/** A switch; `search` where flipping it starts a network search. */
const toggle = (label: string, field: 'data_enabled' | 'roaming_enabled' | 'data_saver_mode' | 'wifi_enabled' | 'wifi_calling_enabled', search = false): UserTool =>
  act(NONE, (phone) => {
    phone.device[field] = !phone.device[field];
    if (search) searchNetwork(phone);
    return `${label} is now ${onOff(phone.device[field])}.`;
  });

/** In upstream's order. */
export const USER_TOOLS: ReadonlyMap<string, UserTool> = new Map<string, UserTool>(Object.entries({
  check_status_bar: look(statusBar),
  check_network_status: look(checkNetworkStatus),
  check_network_mode_preference: look(({ device }) => `Network Mode Preference: ${device.network_mode_preference}`),
  set_network_mode_preference: act(['mode'], setNetworkModePreference),
  run_speed_test: look(runSpeedTest),
  toggle_airplane_mode: act(NONE, (phone) => {
    setAirplaneMode(phone, !phone.device.airplane_mode);
    return `Airplane Mode is now ${onOff(phone.device.airplane_mode)}.`;
  }),
  check_sim_status: look(({ device }) => SIM_TEXTS[simStatus(device)]!),
  reseat_sim_card: act(NONE, (phone) => {
    phone.device.sim_card_missing = false;
    searchNetwork(phone);
    return 'SIM card re-seated successfully.';
  }),
  toggle_data: toggle('Mobile Data', 'data_enabled', true),
  toggle_roaming: toggle('Data Roaming', 'roaming_enabled', true),
  check_data_restriction_status: look(({ device }) => (device.data_saver_mode ? 'Data Saver mode is ON (limits data usage).' : 'Data Saver mode is OFF.')),
  toggle_data_saver_mode: toggle('Data Saver Mode', 'data_saver_mode'),
  check_apn_settings: look(({ device: { active_apn_settings: apn } }) =>
    `Current APN Name: ${apn.apn_name}\nMMSC URL (for picture messages): ${apn.mmsc_url || 'Not Set'}\n(These are technical settings, usually best left unchanged.)`),
  set_apn_settings: act(['apn_settings'], setApnSettings),
  // Arms a flag only: the settings change at the next reboot.
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
    device.wifi_enabled = !device.wifi_enabled;
    // The radio never finds a network of its own.
    Object.assign(device, { wifi_connected: false, wifi_ssid: null, wifi_signal_strength: 'none' });
    return `Wi-Fi is now ${onOff(device.wifi_enabled)}.`;
  }),
  check_wifi_calling_status: look(({ device }) => `Wi-Fi Calling is currently turned ${onOff(device.wifi_calling_enabled)}.`),
  toggle_wifi_calling: toggle('Wi-Fi Calling', 'wifi_calling_enabled'),
  check_vpn_status: look(checkVpnStatus),
  connect_vpn: { required: NONE, run: (phone) => {
    // The one answer of an acting tool without a status bar.
    if (phone.device.vpn_connected) return 'VPN already connected.';
    connectVpn(phone);
    return `VPN connected successfully.\n${statusBar(phone)}`;
  } },
  disconnect_vpn: act(NONE, (phone) => {
    if (!phone.device.vpn_connected) return 'No active VPN connection to disconnect.';
    disconnectVpn(phone);
    return 'VPN disconnected successfully.';
  }),
  check_installed_apps: look(({ device }) => `The following apps are installed on the phone: ${Object.keys(device.app_statuses).join(', ')}`),
  check_app_status: { required: ['app_name'], run: (phone, { app_name }) => {
    const granted = grantedPermissions(phone, app_name!);
    if (!granted) return `App '${pythonStr(app_name!)}' not found on this phone.`;
    return [`Status for App: ${app_name as string}`, ...(granted.length ? [' - Permissions Granted:', ...granted.map((name) => `   - ${name}`)] : [' - Permissions Granted: None'])].join('\n');
  } },
  check_app_permissions: { required: ['app_name'], run: (phone, { app_name }) => {
    const granted = grantedPermissions(phone, app_name!);
    if (!granted) return `App '${pythonStr(app_name!)}' not found on this phone.`;
    return granted.length ? `App '${app_name as string}' has permission for: ${granted.join(', ')}.` : `App '${app_name as string}' currently has no permissions granted.`;
  } },
  grant_app_permission: act(['app_name', 'permission'], grantAppPermission),
  can_send_mms: look((phone) => `Your messaging app ${canSendMms(phone) ? 'can' : 'cannot'} send MMS messages.`),
  reboot_device: act(NONE, (phone) => {
    const resets = phone.device.active_apn_settings.reset_at_reboot;
    if (resets) phone.device.active_apn_settings = readApnSettings({});
    searchNetwork(phone);
    return `${resets ? 'Resetting APN settings...\n' : ''}Restarting network services...`;
  }),
  check_payment_request: look(({ surroundings: { payment_request: request } }) =>
    (request && !request.paid ? `You have a payment request for bill ${request.bill_id} of ${floatRepr(request.amount_due)} USD.` : 'No payment request has been made.')),
  make_payment: look(({ surroundings: { payment_request: request } }) => {
    if (!request) return 'You do not have a payment request.';
    request.paid = true;
    return `Payment of ${floatRepr(request.amount_due)} USD has been made for bill ${request.bill_id}.`;
  }),
} satisfies Record<string, UserTool>));

const SIM_TEXTS: Record<string, string> = {
  active: 'Your SIM card is active and working.',
  missing: 'No SIM card detected in the phone.',
  locked_pin: 'The SIM card is locked with a PIN code.',
  locked_puk: 'The SIM card is locked with a PUK code.',
};

function checkNetworkStatus({ device }: Phone): string {
  return [
    `Airplane Mode: ${onOff(device.airplane_mode)}`, `SIM Card Status: ${simStatus(device)}`, `Cellular Connection: ${device.network_connection_status}`,
    `Cellular Signal: ${device.network_signal_strength}`, `Cellular Network Type: ${device.network_technology_connected}`,
    `Mobile Data Enabled: ${yesNo(device.data_enabled)}`, `Data Roaming Enabled: ${yesNo(device.roaming_enabled)}`,
    `Wi-Fi Radio: ${onOff(device.wifi_enabled)}`, `Wi-Fi Connected: ${yesNo(device.wifi_connected)}`,
    ...(device.wifi_connected ? [`Connected Wi-Fi Network: ${device.wifi_ssid ?? 'Unknown'}`] : []),
  ].join('\n');
}

function setNetworkModePreference(phone: Phone, { mode }: Arguments): string {
  const wanted = text(mode, 'mode') as string;
  // A wrong mode is an answer, not an error.
  if (!(NETWORK_MODES as readonly string[]).includes(wanted)) return `Failed to set network mode: '${wanted}' is not a valid option. Please use one of: ${NETWORK_MODES.join(', ')}`;
  phone.device.network_mode_preference = wanted;
  searchNetwork(phone);
  return `Preferred Network Mode set to: ${wanted}`;
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

/** Upstream stores a text before it stumbles over it, and a mode that is no text likewise; here a refused call changes nothing. */
function setApnSettings(phone: Phone, { apn_settings }: Arguments): string {
  const settings = readApnSettings(apn_settings!);
  phone.device.active_apn_settings = settings;
  searchNetwork(phone);
  return `APN settings set to: ${settings.apn_name}`;
}

/** Upstream prints a Python dictionary with the representation of an enumeration in it. */
function checkVpnStatus({ device }: Phone): string {
  if (device.vpn_connected) return device.vpn_details ? `VPN is ON and connected. Details: ${pythonDetails(device.vpn_details)}` : 'VPN is ON and connected (no specific details available).';
  return device.vpn_enabled_setting ? 'VPN is turned ON in settings, but currently not connected.' : 'VPN is turned OFF.';
}

function pythonDetails({ server_address, protocol, server_performance }: VpnDetails): string {
  const performance = server_performance === null ? 'None' : `<PerformanceLevel.${server_performance.toUpperCase()}: '${server_performance}'>`;
  return `{'server_address': ${pythonStr(server_address, true)}, 'protocol': ${pythonStr(protocol, true)}, 'server_performance': ${performance}}`;
}

/** App names are matched exactly: `Messaging` is no app. */
function appOf({ device }: Phone, name: Arguments[string]) {
  return typeof name === 'string' && Object.hasOwn(device.app_statuses, name) ? device.app_statuses[name] : undefined;
}

function grantedPermissions(phone: Phone, name: Arguments[string]): string[] | undefined {
  const app = appOf(phone, name);
  return app && Object.keys(app.permissions).filter((permission) => app.permissions[permission]);
}

/** Refusals are answers, not errors; the permissions are printed as a Python list. */
function grantAppPermission(phone: Phone, { app_name, permission }: Arguments): string {
  const app = appOf(phone, app_name!);
  if (!app) return `Error. App '${pythonStr(app_name!)}' not found. Cannot grant permission.`;
  const name = (text(permission, 'permission') as string).toLowerCase();
  if (!Object.hasOwn(app.permissions, name)) {
    return `Error. Permission '${name}' not tracked for app '${app.app_name}', available permissions: ${pythonStr(Object.keys(app.permissions))}`;
  }
  app.permissions[name] = true;
  return `Success. Permission '${name}' granted to app '${app.app_name}'.`;
}
