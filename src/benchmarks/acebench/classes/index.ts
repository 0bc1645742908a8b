/** @file The five classes of ACEBench Agent. */
import type { ApiClass } from './api.ts';
import { foodPlatform } from './food.ts';
import { messageApi } from './message.ts';
import { reminderApi } from './reminder.ts';
import { travel } from './travel.ts';

/** The classes by name. */
export const CLASSES: Readonly<Record<string, ApiClass>> = {
  BaseApi: { attributes: [], saved: ['wifi', 'logged_in'], phone: true, signatures: {}, create: () => ({}) },
  MessageApi: messageApi,
  ReminderApi: reminderApi,
  FoodPlatform: foodPlatform,
  Travel: travel,
};
