/** @file Travel and vehicles, and the list of all topics. */
import { EARLY_TOPICS, NAMES, numbers, type Topic, WORDS } from './topics.ts';

const travel: Topic = {
  className: 'TravelAPI',
  signatures: [
    'set_budget_limit(access_token: str, budget_limit: float)',
    'cancel_booking(access_token: str, booking_id: str)',
    'purchase_insurance(access_token: str, insurance_type: str, booking_id: str, insurance_cost: float, card_id: str)',
  ],
  sentences: [
    { text: 'With the token "{access_token}", set the budget to {budget_limit:int}.', name: 'set_budget_limit' },
    { text: 'With the token "{access_token}", cancel booking "{booking_id}".', name: 'cancel_booking' },
    {
      text: 'With the token "{access_token}", insure booking "{booking_id}" for {insurance_cost:int} with card "{card_id}".',
      name: 'purchase_insurance',
      fixed: { insurance_type: 'travel' },
    },
  ],
  make(draw) {
    const token = String(draw.int(100_000, 999_999));
    const [first, last] = draw.some(NAMES, 2);
    const cards = numbers(draw, 2, 1000, 9999).map(String);
    const ids = numbers(draw, 2, 100_000, 999_999).map(String);
    const booking = (card_id: string) => ({
      card_id,
      travel_date: '2031-04-05',
      travel_from: 'AAA',
      travel_to: 'BBB',
      travel_class: 'economy',
      travel_cost: 120.5,
      transaction_id: '7',
    });
    const card = () => ({
      card_number: String(draw.int(10_000, 99_999)),
      expiration_date: '04/2035',
      cardholder_name: `${first} ${last}`,
      card_verification_number: 123,
      balance: draw.int(2000, 9000) + 0.5,
    });
    return {
      config: JSON.stringify({
        credit_card_list: Object.fromEntries(cards.map((id) => [id, card()])),
        booking_record: Object.fromEntries(ids.map((id, i) => [id, booking(cards[i]!)])),
        access_token: token,
        token_type: 'Bearer',
        token_expires_in: 2,
        token_scope: 'write',
        user_first_name: first,
        user_last_name: last,
        budget_limit: null,
      }),
      pools: {
        access_token: [token],
        budget_limit: numbers(draw, 3, 500, 9000),
        booking_id: ids,
        insurance_cost: numbers(draw, 3, 20, 400),
        card_id: cards,
      },
    };
  },
};

const vehicle: Topic = {
  className: 'VehicleControlAPI',
  signatures: [
    'fillFuelTank(fuelAmount: float)',
    'lockDoors(unlock: bool, door: list[str])',
    'adjustClimateControl(temperature: float, fanSpeed: int = 50)',
    'setHeadlights(mode: str)',
    'activateParkingBrake(mode: str)',
    'pressBrakePedal(pedalPosition: float)',
    'set_navigation(destination: str)',
  ],
  sentences: [
    { text: 'Fill in {fuelAmount:int} gallons.', name: 'fillFuelTank' },
    ...['driver', 'passenger', 'rear_left', 'rear_right'].flatMap((door) => [
      { text: `Lock the door ${door}.`, name: 'lockDoors', fixed: { unlock: false, door: [door] } },
      { text: `Unlock the door ${door}.`, name: 'lockDoors', fixed: { unlock: true, door: [door] } },
    ]),
    { text: 'Set the climate to {temperature:int} degrees with fan speed {fanSpeed:int}.', name: 'adjustClimateControl' },
    { text: 'Turn the headlights on.', name: 'setHeadlights', fixed: { mode: 'on' } },
    { text: 'Turn the headlights off.', name: 'setHeadlights', fixed: { mode: 'off' } },
    { text: 'Engage the parking brake.', name: 'activateParkingBrake', fixed: { mode: 'engage' } },
    { text: 'Release the parking brake.', name: 'activateParkingBrake', fixed: { mode: 'release' } },
    { text: 'Press the brake pedal fully.', name: 'pressBrakePedal', fixed: { pedalPosition: 1 } },
    { text: 'Navigate to "{destination}".', name: 'set_navigation' },
  ],
  make(draw) {
    const lock = () => draw.pick(['locked', 'unlocked']);
    return {
      config: JSON.stringify({
        fuelLevel: draw.int(1, 20) + 0.5,
        batteryVoltage: 12.5,
        engineState: 'stopped',
        remainingUnlockedDoors: 0,
        doorStatus: { driver: lock(), passenger: lock(), rear_left: lock(), rear_right: lock() },
        acTemperature: 21.5,
        fanSpeed: 50,
        acMode: 'auto',
        humidityLevel: 50.5,
        headLightStatus: draw.pick(['on', 'off']),
        parkingBrakeStatus: draw.pick(['engaged', 'released']),
        parkingBrakeForce: 0.5,
        slopeAngle: 0.5,
        brakePedalStatus: 'released',
        brakePedalForce: 0.5,
        distanceToNextVehicle: 50.5,
        cruiseStatus: 'inactive',
        destination: 'None',
        frontLeftTirePressure: 32.5,
        frontRightTirePressure: 32.5,
        rearLeftTirePressure: 30.5,
        rearRightTirePressure: 30.5,
      }),
      pools: {
        fuelAmount: numbers(draw, 3, 2, 25),
        temperature: numbers(draw, 3, 16, 28),
        fanSpeed: numbers(draw, 3, 10, 100),
        destination: [draw.pick(WORDS), `${draw.pick(WORDS)} street`],
      },
    };
  },
};

/** The topics by the name of their level. */
export const TOPICS: Readonly<Record<string, Topic>> = { ...EARLY_TOPICS, travel, vehicle };
