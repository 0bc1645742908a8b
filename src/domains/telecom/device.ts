/** @file The simulated phone: how its connection depends on its settings and surroundings. */
import type { Rows } from '../../environments/overlay.ts';
import { cloneJson } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { Device, Surroundings, VpnDetails } from './schema.ts';
import { round2 } from '../exact/python.ts';

export interface Phone {
  device: Device;
  surroundings: Surroundings;
  vpnDefault: VpnDetails;
}

const GOOD_VPN: VpnDetails = { server_address: '192.168.1.1', protocol: 'OpenVPN', server_performance: 'excellent' };

/** Returns a copy of the phone. The caller may change the copy and store it with `savePhone`. */
export function readPhone(rows: Rows): Phone {
  const row = (key: string) => cloneJson(rows.get('', key)) as unknown;
  return {
    device: row('device') as Device,
    surroundings: row('surroundings') as Surroundings,
    vpnDefault: (row('vpn_default') as VpnDetails | undefined) ?? { ...GOOD_VPN },
  };
}

export function savePhone(rows: Rows, { device, surroundings, vpnDefault }: Phone): void {
  rows.put('', 'device', device as unknown as Json);
  rows.put('', 'surroundings', surroundings as unknown as Json);
  // Upstream's `break_vpn` also changes the default server, for later connections of the whole process. Here it changes it only
  // for the episode.
  if (vpnDefault.server_performance !== GOOD_VPN.server_performance) rows.put('', 'vpn_default', vpnDefault as unknown as Json);
}

export function simStatus(device: Device): string {
  return device.sim_card_missing ? 'missing' : device.sim_card_status;
}

/**
 * Searches for a network. As in upstream, only a search changes signal and technology. The status bar shows a suspended line
 * or new surroundings only after the next search.
 */
export function searchNetwork({ device, surroundings }: Phone): void {
  const technology = technologyFor(device.network_mode_preference, surroundings);
  const signal = surroundings.signal_strength[technology] ?? 'none';
  const served =
    simStatus(device) === 'active' && !device.airplane_mode && device.active_apn_settings.apn_name !== 'broken' && surroundings.line_active;
  device.network_connection_status = served ? 'connected' : 'no_service';
  device.network_technology_connected = served ? technology : 'none';
  device.network_signal_strength = served ? signal : 'none';
}

function technologyFor(mode: string | null, { signal_strength }: Surroundings): string {
  if (mode === '2g_only') return '2G';
  if (mode === '3g_only') return '3G';
  return mode === '4g_5g_preferred' && (signal_strength['5G'] ?? 'none') !== 'none' ? '5G' : '4G';
}

export function dropWifi(device: Device): void {
  device.wifi_connected = false;
  device.wifi_ssid = null;
  device.wifi_signal_strength = 'none';
}

export function toggleAirplaneMode(phone: Phone): void {
  const { device } = phone;
  device.airplane_mode = !device.airplane_mode;
  if (device.airplane_mode || device.wifi_enabled) dropWifi(device);
  if (device.airplane_mode && device.vpn_connected) disconnectVpn(phone);
  searchNetwork(phone);
}

/** Quirk: if airplane mode already has the wanted value, it is toggled twice, and both toggles have their effects. */
export function setAirplaneMode(phone: Phone, on: boolean): void {
  toggleAirplaneMode(phone);
  if (phone.device.airplane_mode !== on) toggleAirplaneMode(phone);
}

/** Does nothing if the phone is already connected to a VPN. */
export function connectVpn({ device, vpnDefault }: Phone): void {
  if (device.vpn_connected) return;
  device.vpn_connected = true;
  device.vpn_details = { ...vpnDefault };
}

export function disconnectVpn({ device }: Phone): void {
  device.vpn_connected = false;
  device.vpn_details = null;
}

export function mobileDataWorks({ device, surroundings }: Phone): boolean {
  if (device.airplane_mode || device.network_signal_strength === 'none' || device.network_connection_status === 'no_service') return false;
  if (surroundings.is_abroad && !(device.roaming_enabled && surroundings.roaming_allowed)) return false;
  return device.data_enabled && !surroundings.mobile_data_usage_exceeded;
}

const MBPS: Record<string, number> = { '2G': 0.25, '3G': 3, '4G': 55, '5G': 275 };
const SHARE: Record<string, number> = { poor: 0.2, fair: 0.5, good: 0.8, excellent: 1 };

/** The download speed. Null if there is no connection. */
export function internetSpeed(phone: Phone): { mbps: number; grade: string } | null {
  if (!mobileDataWorks(phone)) return null;
  const { device } = phone;
  let factor = device.vpn_connected && device.vpn_details?.server_performance === 'poor' ? 0.1 : 1;
  // Upstream's documentation says that the data saver halves the speed. Its code reduces the speed to one fifth.
  if (device.data_saver_mode) factor *= 0.2;
  const mbps = round2((MBPS[device.network_technology_connected] ?? 0) * (SHARE[device.network_signal_strength] ?? 0) * factor);
  return { mbps, grade: mbps < 1 ? 'very poor' : mbps < 5 ? 'poor' : mbps < 25 ? 'fair' : mbps < 100 ? 'good' : 'excellent' };
}

export function canSendMms(phone: Phone): boolean {
  const { device } = phone;
  const messaging = device.app_statuses.messaging?.permissions;
  return (
    mobileDataWorks(phone) &&
    device.network_technology_connected !== '2G' &&
    !(device.wifi_calling_enabled && device.wifi_calling_mms_over_wifi) &&
    // Quirk: upstream tests only for null, so an empty address counts as set.
    device.active_apn_settings.mmsc_url !== null &&
    messaging !== undefined &&
    messaging.storage! &&
    messaging.sms!
  );
}

const BARS: Record<string, string> = {
  none: '📵 No Signal',
  poor: '📶¹ Poor',
  fair: '📶² Fair',
  good: '📶³ Good',
  excellent: '📶⁴ Excellent',
};

export function statusBar({ device }: Phone): string {
  const icons: string[] = [];
  if (device.airplane_mode) icons.push('✈️ Airplane Mode');
  else {
    icons.push(BARS[device.network_signal_strength]!);
    const connected = device.network_technology_connected !== 'none';
    if (connected) icons.push(device.network_technology_connected);
    icons.push(connected && device.data_enabled ? '📱 Data Enabled' : '📵 Data Disabled');
    if (connected && device.data_enabled && device.data_saver_mode) icons.push('🔽 Data Saver');
  }
  // Quirk: the status bar shows nothing if the radio is on but not connected.
  if (device.wifi_enabled && device.wifi_connected) icons.push(device.wifi_ssid ? `📡 Connected to ${device.wifi_ssid}` : '📡 Enabled');
  if (device.vpn_connected) icons.push('🔒 VPN Connected');
  return `Status Bar: ${[...icons, `🔋 ${device.battery_level}%`].join(' | ')}`;
}
