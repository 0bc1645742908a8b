/** @file Writes the simulated user's instructions for a generated task, and the ticket that an agent gets if there is no user. */
import type { Case, Intent } from './faults.ts';

/** How hard it is for the agent to guide the user. */
export type TelecomPersona = 'None' | 'Easy' | 'Hard';

export const PERSONAS: Record<TelecomPersona, string | null> = {
  None: null,
  Easy: 'You are in your forties and run a small workshop. You know your phone as well as most people do: calls, messages, the usual settings. You are friendly and patient, you follow one step at a time, and you say clearly what you see after each.',
  Hard: 'You are in your late sixties and use your phone to call your family and to take pictures. Words like APN or VPN mean nothing to you, and you lose the thread when you are told several things at once. You worry about breaking something, ask whether each step is safe, and tell only what you are asked for.',
};

export const DESTINATIONS = ['Spain', 'Japan', 'Canada', 'Norway', 'Kenya'] as const;

export interface Story {
  intent: Intent;
  about: Case;
  /** The country in which the user is, or `home`. Null if the place does not matter. */
  place: string | null;
  /** The gigabytes that the user would buy. Null if the user buys no data. */
  refuel: number | null;
}

const REASONS: Record<Intent, string> = {
  service_issue: 'Your phone has had no service for some hours.',
  mobile_data_issue:
    'Your mobile data does not work, or is far too slow. You want an excellent speed and nothing less. There is no Wi-Fi where you are.',
  mms_issue: 'Your messaging app has not been able to send picture messages (MMS) for some hours. You want to send one.',
};

const GOALS: Record<Intent, string> = {
  service_issue: 'the status bar shows a signal',
  mobile_data_issue: 'a speed test says excellent; poor, fair and good are not enough',
  mms_issue: 'the phone says that it can send MMS messages',
};

export const reasonForCall = ({ intent }: Story) => REASONS[intent];

export function knownInfo({ about, place }: Story): string {
  return `You are ${about.name} and your phone number is ${about.phone_number}.${place === null ? '' : ` You are ${whereabouts(place)}.`}`;
}

export function taskInstructions({ intent, refuel }: Story): string {
  return [
    `The problem is solved when ${GOALS[intent]}.`,
    intent === 'service_issue'
      ? 'If you are asked to pay a bill, you agree.'
      : `You do not want another plan. ${refuel === null ? 'You do not want to buy more data either.' : `You would buy ${refuel} GB of data if need be.`}`,
    'Do what the agent suggests, one step at a time. When the first step does not help, say that you are a little annoyed.',
    'Whatever you say about your phone must come from your tools: look before you answer, and never make up what you see. Where a step shows no new state, look again.',
    'Ask when you are not sure what to do.',
  ].join(' ');
}

export function ticket({ intent, about, place, refuel }: Story): string {
  return [
    `${about.name}, ${about.phone_number}${place === null ? '' : `, ${whereabouts(place)}`}.`,
    {
      service_issue: 'The phone has no service.',
      mobile_data_issue: 'Mobile data does not work or is slow.',
      mms_issue: 'MMS messages cannot be sent.',
    }[intent],
    `Solved when ${GOALS[intent]}.`,
    intent === 'service_issue'
      ? 'The customer agrees to pay what is overdue.'
      : `No change of plan; ${refuel === null ? 'no refuelling' : `refuelling of ${refuel} GB is agreed to`}.`,
  ].join(' ');
}

const whereabouts = (place: string) => (place === 'home' ? 'at home' : `abroad, in ${place}`);

/** The problem of the phone, for the scripted customer. */
export type PhoneTrouble = {
  problem: 'service' | 'data' | 'mms';
  /** The country in which the customer is, or `home`. Null if the place does not matter. */
  place: string | null;
  /** The gigabytes that the customer would buy. Null if the customer buys no data. */
  refuel: number | null;
  /** Whether the customer answers only what the agent asks. */
  terse: boolean;
};
