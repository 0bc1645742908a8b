/** @file Products, names and addresses for generated worlds. */

/** The words from which worlds are generated. */
export interface Catalogue {
  products: readonly ProductType[];
  firstNames: readonly string[];
  lastNames: readonly string[];
  cities: readonly City[];
  streets: readonly string[];
}

/** `zip` has the first three digits of the city's zip codes. */
export interface City {
  city: string;
  state: string;
  zip: string;
}

export interface ProductType {
  name: string;
  /** The base price. The prices of the variants are close to it. */
  price: number;
  options: Record<string, string[]>;
}

const COLORS = ['red', 'blue', 'green', 'black', 'white'];

/** The products of generated shops. Level `nano` has only the first twelve. */
export const PRODUCT_TYPES: readonly ProductType[] = [
  { name: 'Mug', price: 15, options: { color: COLORS, size: ['small', 'large'] } },
  { name: 'Lamp', price: 60, options: { color: COLORS, light: ['warm', 'cold'] } },
  { name: 'Chair', price: 140, options: { color: COLORS, material: ['wood', 'steel', 'plastic'] } },
  { name: 'Jacket', price: 120, options: { color: COLORS, size: ['S', 'M', 'L', 'XL'] } },
  { name: 'Backpack', price: 75, options: { color: COLORS, size: ['small', 'medium', 'large'] } },
  { name: 'Water Bottle', price: 25, options: { color: COLORS, capacity: ['500 ml', '750 ml', '1 l'] } },
  { name: 'T-Shirt', price: 22, options: { color: COLORS, size: ['S', 'M', 'L', 'XL'] } },
  { name: 'Keyboard', price: 95, options: { color: ['black', 'white', 'gray'], switches: ['linear', 'tactile', 'clicky'] } },
  { name: 'Camera', price: 480, options: { color: ['black', 'silver'], zoom: ['3x', '5x', '10x'] } },
  { name: 'Phone', price: 620, options: { color: COLORS, storage: ['64 GB', '128 GB', '256 GB'] } },
  { name: 'Watch', price: 210, options: { color: ['black', 'silver', 'gold'], band: ['leather', 'steel', 'rubber'] } },
  { name: 'Skateboard', price: 85, options: { design: ['plain', 'striped', 'flame'], length: ['28 inch', '31 inch', '34 inch'] } },
  { name: 'Headphones', price: 180, options: { color: COLORS, fit: ['in-ear', 'on-ear', 'over-ear'] } },
  {
    name: 'Laptop',
    price: 1350,
    options: { memory: ['8 GB', '16 GB', '32 GB'], screen: ['13 inch', '15 inch', '17 inch'], color: ['silver', 'black'] },
  },
  {
    name: 'Tablet',
    price: 540,
    options: { screen: ['8 inch', '10 inch', '12 inch'], storage: ['64 GB', '128 GB', '256 GB'], color: ['silver', 'black', 'gold'] },
  },
  { name: 'Mouse', price: 45, options: { color: COLORS, connection: ['wired', 'wireless'] } },
  { name: 'Desk', price: 320, options: { wood: ['oak', 'pine', 'walnut'], width: ['120 cm', '140 cm', '160 cm'] } },
  { name: 'Bookshelf', price: 190, options: { wood: ['oak', 'pine', 'walnut'], height: ['4 ft', '5 ft', '6 ft'] } },
  { name: 'Sneakers', price: 110, options: { color: COLORS, size: ['7', '8', '9', '10', '11'] } },
  {
    name: 'Hiking Boots',
    price: 160,
    options: { size: ['7', '8', '9', '10', '11'], material: ['leather', 'synthetic'], lining: ['waterproof', 'breathable'] },
  },
  { name: 'Tent', price: 260, options: { capacity: ['2 persons', '4 persons', '6 persons'], season: ['summer', 'all seasons'] } },
  {
    name: 'Sleeping Bag',
    price: 105,
    options: { filling: ['down', 'synthetic'], length: ['regular', 'long'], color: ['blue', 'green', 'black'] },
  },
  { name: 'Bicycle', price: 730, options: { frame: ['small', 'medium', 'large'], color: COLORS, kind: ['road', 'mountain', 'city'] } },
  { name: 'Helmet', price: 70, options: { color: COLORS, size: ['S', 'M', 'L'] } },
  { name: 'Yoga Mat', price: 38, options: { color: COLORS, thickness: ['4 mm', '6 mm', '8 mm'] } },
  { name: 'Dumbbells', price: 130, options: { weight: ['5 kg', '10 kg', '20 kg'], material: ['iron', 'rubber'] } },
  { name: 'Coffee Maker', price: 230, options: { kind: ['drip', 'espresso', 'capsule'], capacity: ['2 cups', '4 cups', '8 cups'] } },
  { name: 'Kettle', price: 42, options: { material: ['glass', 'steel', 'plastic'], capacity: ['1 l', '1.5 l', '2 l'] } },
  { name: 'Blender', price: 90, options: { color: ['red', 'black', 'white'], speeds: ['3', '5', '10'] } },
  { name: 'Toaster', price: 55, options: { slots: ['2', '4'], color: ['silver', 'black', 'red'] } },
  { name: 'Vacuum Cleaner', price: 410, options: { kind: ['upright', 'canister', 'robot'], power: ['corded', 'cordless'] } },
  { name: 'Air Purifier', price: 275, options: { room: ['small', 'medium', 'large'], filter: ['HEPA', 'carbon'] } },
  { name: 'Fan', price: 65, options: { kind: ['desk', 'tower', 'ceiling'], color: ['white', 'black'] } },
  { name: 'Speaker', price: 150, options: { color: COLORS, battery: ['10 hours', '20 hours'] } },
  { name: 'Monitor', price: 350, options: { size: ['24 inch', '27 inch', '32 inch'], resolution: ['Full HD', '4K'] } },
  { name: 'Router', price: 125, options: { bands: ['dual', 'triple'], ports: ['4', '8'] } },
  { name: 'Printer', price: 170, options: { kind: ['laser', 'inkjet'], printing: ['color', 'black and white'] } },
  { name: 'Game Console', price: 450, options: { storage: ['512 GB', '1 TB'], color: ['black', 'white'] } },
  { name: 'Puzzle', price: 24, options: { pieces: ['500', '1000', '2000'], motif: ['animals', 'cities', 'art'] } },
  { name: 'Board Game', price: 36, options: { players: ['2', '4', '6'], language: ['English', 'Spanish'] } },
  { name: 'Guitar', price: 290, options: { kind: ['acoustic', 'electric'], color: ['natural', 'black', 'sunburst'] } },
  { name: 'Suitcase', price: 155, options: { size: ['cabin', 'medium', 'large'], material: ['hard shell', 'soft shell'], color: COLORS } },
  { name: 'Umbrella', price: 28, options: { color: COLORS, kind: ['folding', 'long'] } },
  { name: 'Sunglasses', price: 135, options: { frame: ['black', 'brown', 'gold'], lens: ['dark', 'mirrored', 'polarized'] } },
  { name: 'Wallet', price: 58, options: { color: ['black', 'brown', 'red'], material: ['leather', 'canvas'] } },
  { name: 'Scarf', price: 34, options: { color: COLORS, material: ['wool', 'silk', 'cotton'] } },
  { name: 'Pillow', price: 48, options: { filling: ['down', 'foam'], size: ['standard', 'king'] } },
  { name: 'Blanket', price: 66, options: { color: COLORS, size: ['single', 'double'] } },
  { name: 'Garden Hose', price: 44, options: { length: ['10 m', '20 m', '30 m'], color: ['green', 'yellow'] } },
  { name: 'Grill', price: 380, options: { fuel: ['gas', 'charcoal', 'electric'], size: ['portable', 'large'] } },
];

export const FIRST_NAMES: readonly string[] = [
  'Ada',
  'Amir',
  'Anna',
  'Ben',
  'Carla',
  'Chen',
  'David',
  'Elena',
  'Emma',
  'Farid',
  'Grace',
  'Hana',
  'Hugo',
  'Ines',
  'Ivan',
  'Jack',
  'Julia',
  'Kofi',
  'Lara',
  'Leo',
  'Lucas',
  'Maria',
  'Mia',
  'Nina',
  'Noah',
  'Omar',
  'Olga',
  'Paul',
  'Priya',
  'Rosa',
  'Sam',
  'Sara',
  'Tom',
  'Uma',
  'Victor',
  'Yuki',
];

export const LAST_NAMES: readonly string[] = [
  'Adams',
  'Ahmed',
  'Baker',
  'Brown',
  'Chavez',
  'Clark',
  'Costa',
  'Diaz',
  'Evans',
  'Fischer',
  'Garcia',
  'Green',
  'Haddad',
  'Ito',
  'Jones',
  'Kim',
  'Kovacs',
  'Lee',
  'Lopez',
  'Martin',
  'Moore',
  'Nguyen',
  'Novak',
  'Okafor',
  'Park',
  'Patel',
  'Reed',
  'Rossi',
  'Silva',
  'Smith',
  'Sato',
  'Turner',
  'Weber',
  'Young',
];

export const CITIES: readonly City[] = [
  { city: 'Austin', state: 'TX', zip: '787' },
  { city: 'Boston', state: 'MA', zip: '021' },
  { city: 'Chicago', state: 'IL', zip: '606' },
  { city: 'Dallas', state: 'TX', zip: '752' },
  { city: 'Denver', state: 'CO', zip: '802' },
  { city: 'Houston', state: 'TX', zip: '770' },
  { city: 'Miami', state: 'FL', zip: '331' },
  { city: 'New York', state: 'NY', zip: '100' },
  { city: 'Phoenix', state: 'AZ', zip: '850' },
  { city: 'Portland', state: 'OR', zip: '972' },
  { city: 'San Diego', state: 'CA', zip: '921' },
  { city: 'Seattle', state: 'WA', zip: '981' },
];

export const STREETS: readonly string[] = [
  'Cedar Lane',
  'Church Street',
  'Garden Road',
  'Hill Street',
  'Lake Drive',
  'Maple Avenue',
  'Mill Road',
  'Oak Street',
  'Park Avenue',
  'River Road',
  'School Street',
  'Station Road',
];

/** The words of the splits `train` and `heldout`. */
export const CATALOGUE: Catalogue = {
  products: PRODUCT_TYPES,
  firstNames: FIRST_NAMES,
  lastNames: LAST_NAMES,
  cities: CITIES,
  streets: STREETS,
};
