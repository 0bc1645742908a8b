/**
 * Chooses the matmul tiles of a hardware GPU. It measures the variants, because the name of a GPU does not tell which one is fastest.
 * The choice is stored under a key of first-contact.ts, so a browser measures only once. The choice changes the speed but no bit of a result:
 * every variant adds the terms of an element in the same order. A variant whose result differs from the default's in any bit is not used.
 */
import { type AdapterStore, untunedKey } from './first-contact.ts';
import type { Dispatch, Gpu, View } from './gpu.ts';
import { matmul, type MatmulForm } from './kernels/matmul.ts';
import { DEFAULT_TILES, MEASURED_TILES, type MeasuredTile, type TileChoice } from './tuning.ts';

/** One use of the matmul: the shape to measure, and the tiles to compare. */
interface Use {
  form: MatmulForm;
  rows: number;
  candidates: readonly MeasuredTile[];
}

const LARGE = ['register 8x2', 'shared 64x64', 'shared 128x64', 'shared 128x128', 'shared 64x64 double', 'shared 128x64 double'] as const;
/** Matmul shapes like those in a layer of a small Qwen model. */
export const MEASURED_SHAPES = {
  uses: {
    few: { form: 'nt', rows: 16, candidates: ['register 4x1', 'shared 32x32', 'shared 64x64'] },
    many: { form: 'nt', rows: 1024, candidates: LARGE },
    tn: { form: 'tn', rows: 1024, candidates: LARGE },
  } as Record<'few' | 'many' | 'tn', Use>,
  /** The n and k of the matmuls. */
  width: 1024,
};
type Shapes = typeof MEASURED_SHAPES;
const ROUNDS = 5;
/** Milliseconds of one measurement: much longer than the jitter of a browser's clock. */
const MEASURED_MS = 4;
/** Another variant replaces the default only if it takes less than this share of the default's time. */
const WORTH = 0.95;

/** Returns the fastest variants for this adapter: the stored choice if one exists, else measured ones. If measuring fails, the defaults. */
export async function tunedTiles(gpu: Gpu, store?: AdapterStore, shapes: Shapes = MEASURED_SHAPES): Promise<TileChoice> {
  const key = `tiles ${untunedKey(gpu)}`;
  const stored = await store?.load(key).catch(() => undefined);
  if (isChoice(stored)) return stored;
  const choice = { ...DEFAULT_TILES };
  try {
    for (const use of ['few', 'many', 'tn'] as const)
      choice[use] = fastest(
        choice[use],
        await measure(gpu, choice[use], (tensor) => products(gpu, tensor, shapes.uses[use], shapes.width)),
      );
  } catch {
    return DEFAULT_TILES; // the self-test that follows says what is wrong with the device
  }
  await store?.save(key, choice).catch(() => {});
  return choice;
}

/** @param ms milliseconds by variant, without the variants whose result has other bits than the default's */
export function fastest<Name>(standard: Name, ms: ReadonlyMap<Name, number>): Name {
  const [name, best] = [...ms].reduce((least, next) => (next[1] < least[1] ? next : least), [standard, Infinity] as const);
  return best < WORTH * (ms.get(standard) ?? Infinity) ? name : standard;
}

const isChoice = (value: unknown): value is TileChoice => {
  if (typeof value !== 'object' || value === null) return false;
  const tiles = value as Record<string, unknown>;
  return Object.entries(MEASURED_SHAPES.uses).every(([use, { candidates }]) => candidates.some((name) => name === tiles[use]));
};

/** The variants that one measurement compares. */
interface Candidates<Name> {
  rows: number;
  /** The outputs. All variants write to the same buffers. */
  out: View[];
  programs: { name: Name; once: Dispatch[] }[];
}
/** Makes a tensor with `floats` values that are not all 0. */
type MakeTensor = (floats: number) => View;

function products(gpu: Gpu, tensor: MakeTensor, { form, rows, candidates }: Use, width: number): Candidates<MeasuredTile> {
  const [a, b] = [tensor(rows * width), tensor((form === 'tn' ? rows : width) * width)];
  const c = tensor((form === 'tn' ? width : rows) * width);
  const counts = gpu.uniform('tune counts', [rows, 0, 0, 0]);
  const programs = candidates.map((name) => {
    const tile = MEASURED_TILES[name];
    const { blocks } = gpu.tuning.matmul;
    const tuning = { rows: [{ upTo: Infinity, tile }], tn: tile, ...(blocks && { blocks: { ...blocks, elements: 0 } }) };
    return { name, once: matmul(gpu, { a, b, c, counts }, { form, rows: { of: 'tokens' }, n: width, k: width }, tuning) };
  });
  return { rows, out: [c], programs };
}

/**
 * Returns the least milliseconds of each variant. The variants run in turn, in several rounds. A variant whose result has other bits
 * than that of `standard` is missing.
 */
async function measure<Name>(gpu: Gpu, standard: Name, make: (tensor: MakeTensor) => Candidates<Name>): Promise<Map<Name, number>> {
  const views: View[] = [];
  try {
    const { rows, out, programs } = gpu.collecting(views, () =>
      make((floats) => {
        const view = gpu.buffer('tune', floats * 4);
        const values = Float32Array.from({ length: floats }, (_, i) => ((i * 2654435761) % 1000) / 1000 - 0.5);
        gpu.write(view, values);
        return view;
      }),
    );
    await gpu.ready();
    const time = async (once: readonly Dispatch[], repeats: number): Promise<number> => {
      const start = performance.now();
      gpu.run(Array.from({ length: repeats }, () => once).flat(), { tokens: rows, rows: 0 });
      await gpu.device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / repeats;
    };
    const bits = new Map<Name, Uint32Array[]>();
    for (const { name, once } of programs) {
      await time(once, 1);
      const words: Uint32Array[] = [];
      for (const view of out) words.push(new Uint32Array(await gpu.read(view)));
      bits.set(name, words);
    }
    const expected = bits.get(standard)!;
    const sound = programs.filter(({ name }) => bits.get(name)!.every((words, v) => words.every((word, i) => word === expected[v]![i])));
    const repeats = Math.max(1, Math.min(500, Math.round(MEASURED_MS / (await time(programs[0]!.once, 2)))));
    const ms = new Map<Name, number>();
    for (let round = 0; round < ROUNDS; round++)
      for (const { name, once } of sound) ms.set(name, Math.min(ms.get(name) ?? Infinity, await time(once, repeats)));
    return ms;
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}
