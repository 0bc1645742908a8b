/**
 * Chooses the matmul tiles of a hardware GPU by measuring them: GPUs differ more than their names tell. The choice is stored for
 * each adapter, so it is made once in a browser. It changes the speed and no bit of a result, because every tile adds the terms
 * of an element in the same order; a tile whose product has other bits than the default's is left out.
 */
import type { Gpu, View } from './gpu.ts';
import { matmul, type MatmulForm } from './kernels/matmul.ts';
import { DEFAULT_TILES, MEASURED_TILES, type MeasuredTile, type TileChoice } from './tuning.ts';

/** Keeps choices between visits. Both methods may fail: then the tiles are measured again. */
export interface TileStore {
  load(adapter: string): Promise<unknown>;
  save(adapter: string, choice: TileChoice): Promise<unknown>;
}

/** What is measured for a use, at the shape of a layer of a small Qwen. */
interface Use {
  form: MatmulForm;
  rows: number;
  candidates: readonly MeasuredTile[];
}

const LARGE = ['register 8x2', 'shared 64x64', 'shared 128x64', 'shared 128x128'] as const;
export const USES: Record<keyof TileChoice, Use> = {
  few: { form: 'nt', rows: 16, candidates: ['register 4x1', 'shared 32x32', 'shared 64x64'] },
  many: { form: 'nt', rows: 1024, candidates: LARGE },
  tn: { form: 'tn', rows: 1024, candidates: LARGE },
};
const WIDTH = 1024;
const ROUNDS = 5;
/** Milliseconds of one measurement: long beside the jitter of a browser's clock. */
const MEASURED_MS = 4;
/** Another tile replaces the default only if it takes less than this share of the default's time. */
const WORTH = 0.95;

/** The fastest tiles of this adapter: those that are stored, or measured ones. The defaults if they cannot be measured. */
export async function tunedTiles(gpu: Gpu, store?: TileStore, uses = USES, width = WIDTH): Promise<TileChoice> {
  const { vendor, architecture, description } = gpu.info;
  const adapter = `${vendor} ${architecture} ${description}`;
  const stored = await store?.load(adapter).catch(() => undefined);
  if (isChoice(stored)) return stored;
  const choice = { ...DEFAULT_TILES };
  try {
    for (const use of ['few', 'many', 'tn'] as const)
      choice[use] = fastestTile(DEFAULT_TILES[use], await measure(gpu, uses[use], DEFAULT_TILES[use], width));
  } catch {
    return DEFAULT_TILES; // the self-test that follows says what is wrong with the device
  }
  await store?.save(adapter, choice).catch(() => {});
  return choice;
}

/** @param ms milliseconds by tile; tiles that were left out are missing */
export function fastestTile(standard: MeasuredTile, ms: ReadonlyMap<MeasuredTile, number>): MeasuredTile {
  const [name, best] = [...ms].reduce((fastest, next) => (next[1] < fastest[1] ? next : fastest), [standard, Infinity] as const);
  return best < WORTH * (ms.get(standard) ?? Infinity) ? name : standard;
}

const isChoice = (value: unknown): value is TileChoice =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(USES).every(([use, { candidates }]) => candidates.some((name) => name === (value as Record<string, unknown>)[use]));

/** The least milliseconds of each tile that gives the bits of `standard`, in interleaved rounds. */
async function measure(
  gpu: Gpu,
  { form, rows, candidates }: Use,
  standard: MeasuredTile,
  width: number,
): Promise<Map<MeasuredTile, number>> {
  const views: View[] = [];
  try {
    const { c, tiles } = gpu.collecting(views, () => {
      const random = (label: string, floats: number): View => {
        const view = gpu.buffer(label, floats * 4);
        gpu.write(
          view,
          Float32Array.from({ length: floats }, (_, i) => ((i * 2654435761) % 1000) / 1000 - 0.5),
        );
        return view;
      };
      const [a, b] = [random('tune a', rows * width), random('tune b', (form === 'tn' ? rows : width) * width)];
      const c = gpu.buffer('tune c', (form === 'tn' ? width : rows) * width * 4);
      const counts = gpu.uniform('tune counts', [rows, 0, 0, 0]);
      const tiles = candidates.map((name) => {
        const tile = MEASURED_TILES[name];
        const tuning = { rows: [{ upTo: Infinity, tile }], tn: tile };
        return { name, once: matmul(gpu, { a, b, c, counts }, { form, rows: { of: 'tokens' }, n: width, k: width }, tuning) };
      });
      return { c, tiles };
    });
    await gpu.ready();
    const time = async (once: (typeof tiles)[number]['once'], repeats: number): Promise<number> => {
      const start = performance.now();
      gpu.run(Array.from({ length: repeats }, () => once).flat(), { tokens: rows, rows: 0 });
      await gpu.device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / repeats;
    };
    const bits = new Map<MeasuredTile, Uint32Array>();
    for (const { name, once } of tiles) {
      await time(once, 1);
      bits.set(name, new Uint32Array(await gpu.read(c)));
    }
    const expected = bits.get(standard)!;
    const sound = tiles.filter(({ name }) => bits.get(name)!.every((word, i) => word === expected[i]));
    const repeats = Math.max(1, Math.min(500, Math.round(MEASURED_MS / (await time(tiles[0]!.once, 2)))));
    const ms = new Map<MeasuredTile, number>();
    for (let round = 0; round < ROUNDS; round++)
      for (const { name, once } of sound) ms.set(name, Math.min(ms.get(name) ?? Infinity, await time(once, repeats)));
    return ms;
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}
