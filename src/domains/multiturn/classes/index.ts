/** @file The eight classes of BFCL Multi Turn. */
import type { ApiClass } from './api.ts';
import { fileSystem } from './file-system.ts';
import { mathApi } from './math.ts';
import { messageApi } from './message.ts';
import { ticketApi } from './ticket.ts';
import { tradingBot } from './trading.ts';
import { travelApi } from './travel.ts';
import { twitterApi } from './twitter.ts';
import { vehicleControl } from './vehicle.ts';

/** The classes by name. */
export const CLASSES: Readonly<Record<string, ApiClass>> = {
  GorillaFileSystem: fileSystem,
  MathAPI: mathApi,
  MessageAPI: messageApi,
  TwitterAPI: twitterApi,
  TicketAPI: ticketApi,
  TradingBot: tradingBot,
  TravelAPI: travelApi,
  VehicleControlAPI: vehicleControl,
};
