/** Tiles chosen by measurement: the choice is one of the candidates, is stored, and changes no bit. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fastest, MEASURED_SHAPES, tunedTiles } from '../../src/engine/autotune.ts';
import type { AdapterStore } from '../../src/engine/first-contact.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { DEFAULT_TILES, MEASURED_TILES } from '../../src/engine/tuning.ts';
import { adapterStore } from '../../src/storage/adapter-store.ts';

describe('autotune', () => {
  let gpu: Gpu;
  beforeAll(async () => {
    gpu = await Gpu.create();
  });
  afterAll(() => gpu.destroy());

  // Small products, and no tile of 128 × 128: a software adapter takes seconds to compile it.
  const few = ['register 4x1', 'shared 32x32'] as const;
  const many = ['register 8x2', 'shared 64x64'] as const;
  const shapes: typeof MEASURED_SHAPES = {
    uses: {
      few: { form: 'nt', rows: 16, candidates: few },
      many: { form: 'nt', rows: 64, candidates: many },
      tn: { form: 'tn', rows: 64, candidates: many },
    },
    width: 64,
  };

  test('measures each tile, stores the choice, and reads it at the next visit', async () => {
    const run = vi.spyOn(gpu, 'run');
    const choice = await tunedTiles(gpu, adapterStore, shapes);
    expect([few, many, many].every((names, i) => names.some((name) => name === [choice.few, choice.many, choice.tn][i]))).toBe(true);
    expect(run.mock.calls.length).toBeGreaterThan(30);
    run.mockClear();
    expect(await tunedTiles(gpu, adapterStore, shapes)).toEqual(choice);
    expect(run).not.toHaveBeenCalled();
    run.mockRestore();
    const buffers = gpu.bytesAllocated;
    await tunedTiles(gpu, undefined, shapes);
    expect(gpu.bytesAllocated).toBe(buffers);
  });

  test.each<[string, AdapterStore]>([
    ['a storage that fails', { load: () => Promise.reject(new Error('no storage')), save: () => Promise.reject(new Error('no storage')) }],
    ['a tile that does not exist', { load: async () => ({ ...DEFAULT_TILES, many: 'shared 9x9' }), save: async () => {} }],
    ['a choice without a kernel’s variant', { load: async () => ({ ...DEFAULT_TILES, tn: undefined }), save: async () => {} }],
    ['a stored number', { load: async () => 7, save: async () => {} }],
  ])('%s: the tiles are measured', async (_, store) => {
    const run = vi.spyOn(gpu, 'run');
    const choice = await tunedTiles(gpu, store, shapes);
    expect([choice.few, choice.many, choice.tn].every((name) => name in MEASURED_TILES)).toBe(true);
    expect(run).toHaveBeenCalled();
    run.mockRestore();
  });

  test('a device that refuses the measurement keeps the default, and nothing is stored', async () => {
    const save = vi.fn(async () => {});
    const ready = vi.spyOn(gpu, 'ready').mockRejectedValue(new Error('a shader does not compile'));
    expect(await tunedTiles(gpu, { load: async () => undefined, save }, shapes)).toEqual(DEFAULT_TILES);
    expect(save).not.toHaveBeenCalled();
    ready.mockRestore();
  });

  test('another tile must be worth the change, and a tile with other bits has no time', () => {
    const choose = (...ms: [keyof typeof MEASURED_TILES, number][]) => fastest<keyof typeof MEASURED_TILES>('shared 64x64', new Map(ms));
    expect(choose(['shared 64x64', 10], ['shared 128x64', 9.8])).toBe('shared 64x64');
    expect(choose(['shared 64x64', 10], ['shared 128x64', 9], ['shared 128x128', 6])).toBe('shared 128x128');
    expect(choose(['shared 64x64', 10])).toBe('shared 64x64');
  });
});
