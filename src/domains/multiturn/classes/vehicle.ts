/** @file `VehicleControlAPI`: a car. */
import { float } from '../../../python/conversions.ts';
import {
  add,
  atMost,
  dictFor,
  divide,
  itemOf,
  iterate,
  less,
  multiply,
  setItem,
  subtract,
  textFor,
  typeError,
} from '../../../python/operations.ts';
import { PyRandom } from '../../../python/random.ts';
import { Dict, dict, equal, truth, typeName, type Value } from '../../../python/values.ts';
import { defaultsOf, fillerOf } from '../tables.ts';
import { type ApiClass, attributesFrom, error, f, seedOf } from './api.ts';

/** The attributes in upstream's order. */
const ATTRIBUTES = [
  'fuelLevel',
  'batteryVoltage',
  'engine_state',
  'remainingUnlockedDoors',
  'doorStatus',
  'acTemperature',
  'fanSpeed',
  'acMode',
  'humidityLevel',
  'headLightStatus',
  'parkingBrakeStatus',
  '_parkingBrakeForce',
  '_slopeAngle',
  'brakePedalStatus',
  '_brakePedalForce',
  'distanceToNextVehicle',
  'cruiseStatus',
  'destination',
  'frontLeftTirePressure',
  'frontRightTirePressure',
  'rearLeftTirePressure',
  'rearRightTirePressure',
];
const TIRES = ATTRIBUTES.slice(-4);
/** The attributes that have another name in the config. */
const RENAMED: Record<string, string> = {
  engine_state: 'engineState',
  _parkingBrakeForce: 'parkingBrakeForce',
  _slopeAngle: 'slopeAngle',
  _brakePedalForce: 'brakePedalForce',
};
/** What `displayCarStatus` shows for each option: the name in its answer, and the attribute. */
const STATUS: Record<string, Record<string, string>> = {
  fuel: { fuelLevel: 'fuelLevel' },
  battery: { batteryVoltage: 'batteryVoltage' },
  doors: { doorStatus: 'doorStatus' },
  climate: { currentACTemperature: 'acTemperature', fanSpeed: 'fanSpeed', climateMode: 'acMode', humidityLevel: 'humidityLevel' },
  headlights: { headlightStatus: 'headLightStatus' },
  parkingBrake: { parkingBrakeStatus: 'parkingBrakeStatus', parkingBrakeForce: '_parkingBrakeForce', slopeAngle: '_slopeAngle' },
  brakePedal: { brakePedalStatus: 'brakePedalStatus', brakePedalForce: '_brakePedalForce' },
  engine: { engineState: 'engine_state' },
};

const inside = (least: Value, value: Value, most: Value) => atMost(least, value) && atMost(value, most);

export const vehicleControl: ApiClass = {
  signatures: {
    startEngine: 'ignitionMode',
    fillFuelTank: 'fuelAmount',
    lockDoors: 'unlock, door',
    adjustClimateControl: "temperature, unit='celsius', fanSpeed=50, mode='auto'",
    get_outside_temperature_from_google: '',
    get_outside_temperature_from_weather_com: '',
    setHeadlights: 'mode',
    displayCarStatus: 'option',
    activateParkingBrake: 'mode',
    pressBrakePedal: 'pedalPosition',
    releaseBrakePedal: '',
    setCruiseControl: 'speed, activate, distanceToNextVehicle',
    get_current_speed: '',
    display_log: 'messages',
    estimate_drive_feasibility_by_mileage: 'distance',
    liter_to_gallon: 'liter',
    gallon_to_liter: 'gallon',
    estimate_distance: 'cityA, cityB',
    get_zipcode_based_on_city: 'city',
    set_navigation: 'destination',
    check_tire_pressure: '',
    find_nearest_tire_shop: '',
  },
  create(context) {
    const { config, tables, shared, longContext } = context;
    const random = new PyRandom(seedOf(context, 'VehicleControlAPI', 141053n));
    const own = attributesFrom(context, 'VehicleControlAPI', ATTRIBUTES);
    // The default state has this one attribute under its other name.
    if (!config.has('brakePedalForce')) own._brakePedalForce = defaultsOf(tables, 'VehicleControlAPI').get('brakePedalForce') ?? 0;
    for (const [name, key] of Object.entries(RENAMED)) if (config.has(key)) own[name] = config.get(key)!;
    own.long_context = longContext;
    const doors = dictFor('keys', own.doorStatus!);
    own.remainingUnlockedDoors = 4n - BigInt(doors.values().filter((status) => equal(status, 'locked')).length);
    /** The fields, after a filler if the context is long. */
    const after = (name: string, filler: string, fields: Record<string, Value>) =>
      dict(longContext ? { [name]: fillerOf(tables, filler), ...fields } : fields);

    function startEngine(mode: Value): Value {
      if (equal(mode, 'STOP')) own.engine_state = 'stopped';
      if (less(0n, own.remainingUnlockedDoors!)) {
        const unlocked = doors.entries().filter(([, status]) => equal(status, 'unlocked'));
        return error(
          `All doors must be locked before starting the engine. Here are the unlocked doors: ${unlocked.map(([door]) => textFor('join', door)).join(', ')}`,
        );
      }
      if (!equal(own.brakePedalStatus!, 'pressed')) return error('Brake pedal needs to be pressed when starting the engine.');
      if (!equal(own._brakePedalForce!, 1000)) return error('Must press the brake fully before starting the engine.');
      if (less(own.fuelLevel!, 0)) return error('Fuel tank is empty.');
      if (!equal(mode, 'START')) return error('Invalid ignition mode.');
      own.engine_state = 'running';
      return dict({ engineState: own.engine_state, fuelLevel: own.fuelLevel!, batteryVoltage: own.batteryVoltage! });
    }

    function lockDoors(unlock: boolean, which: Value): Value {
      const status = unlock ? 'unlocked' : 'locked';
      for (const door of iterate(which)) {
        if (equal(itemOf(doors, door), status)) continue;
        setItem(doors, door, status);
        own.remainingUnlockedDoors = add(own.remainingUnlockedDoors!, unlock ? 1n : -1n);
      }
      return dict({ lockStatus: status, remainingUnlockedDoors: own.remainingUnlockedDoors! });
    }

    function adjustClimate(temperature: Value, unit: Value, fan: Value, mode: Value): Value {
      if (!inside(0n, fan, 100n)) return error('Fan speed must be between 0 and 100.');
      own.acTemperature = temperature;
      if (equal(unit, 'fahrenheit')) own.acTemperature = divide(multiply(subtract(temperature, 32n), 5n), 9n);
      own.fanSpeed = fan;
      own.acMode = mode;
      return dict({ currentACTemperature: temperature, climateMode: mode, humidityLevel: own.humidityLevel! });
    }

    function pressBrake(position: Value): Value {
      if (!inside(0n, position, 1n)) return error('Pedal position must be between 0 and 1.');
      if (equal(position, 0n)) return releaseBrake();
      own._brakePedalForce = multiply(position, 1000n);
      own.brakePedalStatus = 'pressed';
      return dict({ brakePedalStatus: 'pressed', brakePedalForce: float(own._brakePedalForce) });
    }

    function releaseBrake(): Value {
      own.brakePedalStatus = 'released';
      own._brakePedalForce = 0;
      return dict({ brakePedalStatus: 'released', brakePedalForce: 0 });
    }

    function cruise(givenSpeed: Value, activate: Value, givenDistance: Value): Value {
      const distance = float(givenDistance);
      const speed = float(givenSpeed);
      if (equal(own.engine_state!, 'stopped')) return error('Start the engine before activating the cruise control.');
      own.distanceToNextVehicle = distance;
      if (truth(activate) && (speed < 0 || speed > 120 || speed % 5 !== 0)) return error('Invalid speed');
      own.cruiseStatus = truth(activate) ? 'active' : 'inactive';
      return dict({ cruiseStatus: own.cruiseStatus, currentSpeed: speed, distanceToNextVehicle: distance });
    }

    function parkingBrake(mode: Value): Value {
      const engage = equal(mode, 'engage');
      if (!engage && !equal(mode, 'release')) return error('Invalid mode');
      own.parkingBrakeStatus = engage ? 'engaged' : 'released';
      own._parkingBrakeForce = engage ? 500 : 0;
      own._slopeAngle = 10;
      return after('parkingBrakeInstruction', 'PARKING_BRAKE_INSTRUCTION', {
        parkingBrakeStatus: own.parkingBrakeStatus,
        _parkingBrakeForce: own._parkingBrakeForce,
        _slopeAngle: 10,
      });
    }

    function distance(a: Value, b: Value): Value {
      const row = tables.distances.find(([one, other]) => (equal(a, one!) && equal(b, other!)) || (equal(a, other!) && equal(b, one!)));
      const found = row ? dict({ distance: row[2]! }) : error('distance not found in database.');
      return longContext ? found.set('intermediaryCities', fillerOf(tables, 'INTERMEDIARY_CITIES')) : found;
    }

    function carStatus(option: Value): Value {
      const shown = Object.entries(STATUS).find(([name]) => equal(name, option))?.[1];
      const fields = shown && Object.fromEntries(Object.entries(shown).map(([name, attribute]) => [name, own[attribute]!]));
      return after('metadata', 'CAR_STATUS_METADATA_EXTENSION', fields ?? { error: 'Invalid option' });
    }

    return {
      attributes: own,
      methods: {
        startEngine: (mode) => startEngine(mode!),
        fillFuelTank(amount) {
          if (less(amount!, 0n)) return error('Fuel amount cannot be negative.');
          const level = add(own.fuelLevel!, amount!);
          if (less(50n, level, '>')) return error('Cannot fill gas above the tank capacity.');
          if (less(level, 0)) return error('Fuel tank is empty. Min fuel level is 0 gallons.');
          own.fuelLevel = level;
          return dict({ fuelLevel: level });
        },
        lockDoors: (unlock, door) => lockDoors(truth(unlock!), door!),
        adjustClimateControl: (temperature, unit, fan, mode) => adjustClimate(temperature!, unit!, fan!, mode!),
        get_outside_temperature_from_google() {
          const outsideTemperature = random.uniform(-10, 40);
          if (!longContext) return dict({ outsideTemperature });
          return shared.filler<Dict>('LONG_WEATHER_EXTENSION').set('outsideTemperature', outsideTemperature);
        },
        get_outside_temperature_from_weather_com: () => dict({ error: 404n }),
        setHeadlights(mode) {
          if (!['on', 'off', 'auto'].some((one) => equal(one, mode!))) return error('Invalid headlight mode.');
          own.headLightStatus = mode === 'on' ? 'on' : 'off';
          return dict({ headlightStatus: own.headLightStatus });
        },
        displayCarStatus: (option) => carStatus(option!),
        activateParkingBrake: (mode) => parkingBrake(mode!),
        pressBrakePedal: (position) => pressBrake(position!),
        releaseBrakePedal: () => releaseBrake(),
        setCruiseControl: (speed, activate, to) => cruise(speed!, activate!, to!),
        get_current_speed: () => dict({ currentSpeed: random.uniform(0, 120) }),
        display_log: (messages) => dict({ log: messages! }),
        estimate_drive_feasibility_by_mileage: (miles) => dict({ canDrive: !less(multiply(own.fuelLevel!, 20), miles!) }),
        liter_to_gallon: (liter) => dict({ gallon: multiply(liter!, 0.264172) }),
        gallon_to_liter: (gallon) => dict({ liter: multiply(gallon!, 3.78541) }),
        estimate_distance: (a, b) => distance(a!, b!),
        get_zipcode_based_on_city(city) {
          return dict({ zipcode: (typeof city === 'string' ? tables.zipcodes.get(city) : undefined) ?? '00000' });
        },
        set_navigation(destination) {
          own.destination = destination!;
          if (typeof destination !== 'string') throw typeError(`can only concatenate str (not "${typeName(destination!)}") to str`);
          return dict({ status: f`Navigating to ${destination}` });
        },
        check_tire_pressure() {
          const pressures = TIRES.map((name) => [name, own[name]!] as const);
          const average = divide(TIRES.map((name) => own[name]!).reduce<Value>(add, 0n), 4n);
          const fields = { ...Object.fromEntries(pressures), healthy_tire_pressure: inside(30n, average, 35n) };
          return dict({ ...fields, car_info: longContext ? fillerOf(tables, 'CAR_STATUS_METADATA_EXTENSION') : new Dict() });
        },
        find_nearest_tire_shop: () => dict({ shopLocation: '456 Oakwood Avenue, Rivermist, 83214' }),
      },
    };
  },
};
