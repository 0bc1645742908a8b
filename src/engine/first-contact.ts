/**
 * What is measured when the engine first meets an adapter: a self-test of a whole model. The result is stored for this adapter, browser
 * and driver, and for the text of all kernels. It is valid for a week.
 */
import { sha256 } from '../base/sha256.ts';
import { type Check, firstFailure } from './check.ts';
import { type GpuInfo, LIMITS } from './device.ts';
import type { Gpu } from './gpu.ts';
import { modelTest, testedKernels } from './model-test.ts';
import { kernelChecks } from './self-test.ts';
import { tuningFor } from './tuning.ts';

/** Stores what was measured between visits. Both methods may fail. If they fail, it is measured again. */
export interface AdapterStore {
  load(key: string): Promise<unknown>;
  save(key: string, value: object): Promise<unknown>;
}

export interface SelfTestReport {
  /** Version of the app. */
  app: string;
  /** When the test began, in ISO 8601. */
  date: string;
  /** Wall time, with compilation. */
  milliseconds: number;
  /** The browser, or Node. */
  browser: string;
  adapter: GpuInfo;
  features: string[];
  /** The device's limits of storage and workgroups. */
  limits: Record<string, number>;
  /** SHA-256 of the WGSL of all tested kernels. */
  kernels: string;
  /** One line about the first wrong result; null if all are right. */
  failure: string | null;
  checks: Check[];
}

const browser = (): string => globalThis.navigator?.userAgent ?? 'Node';

/**
 * Names the adapter, its driver and browser, and the kernels. Most browsers hide the driver's version. Their own version, which is part of
 * the name, changes with the compiler of the shaders.
 * @param kernels WGSL
 */
export function adapterKey({ info }: Gpu, kernels: readonly string[]): string {
  const { vendor, architecture, description, device = '', driver = '', subgroupSize } = info;
  return JSON.stringify([vendor, architecture, device, description, driver, subgroupSize, browser(), sha256(kernels.join('\n'))]);
}

/** The keys that were made. A key takes a fifth of a second. */
const untunedKeys = new WeakMap<Gpu, string>();

/** The key for choices of kernel variants: it does not depend on the variants that are in use. */
export function untunedKey(gpu: Gpu): string {
  const { info, device } = gpu;
  const key = untunedKeys.get(gpu) ?? adapterKey(gpu, testedKernels({ info, device, tuning: tuningFor(info) }));
  untunedKeys.set(gpu, key);
  return key;
}

/** A browser does not tell that a driver is new. So a self-test is repeated after this time. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/**
 * Checks the kernels that this device uses, and at the first contact a whole model.
 * @param options.model whether to test the model. By default a software adapter skips this test: its kernels take minutes to compile, and
 *   the GPU tests have already run them on it.
 * @returns a line about the first wrong result; null if all are right
 */
export async function firstContact(
  gpu: Gpu,
  { store, model = !gpu.info.software }: { store?: AdapterStore; model?: boolean } = {},
): Promise<string | null> {
  const wrong = firstFailure(await kernelChecks(gpu));
  if (wrong !== null || !model) return wrong;
  const key = `self-test ${adapterKey(gpu, testedKernels(gpu))}`;
  const before = await store?.load(key).catch(() => undefined);
  const age = Date.now() - Number((before as { at?: unknown } | undefined)?.at);
  if (age >= 0 && age < KEPT_MS) return null;
  const failed = firstFailure(await modelTest(gpu));
  if (failed === null) await store?.save(key, { at: Date.now() }).catch(() => {});
  return failed;
}

/** Runs every check, and writes down what they found. @param app version of the app */
export async function selfTestReport(gpu: Gpu, app: string): Promise<SelfTestReport> {
  const start = performance.now();
  const date = new Date().toISOString();
  const kernels = await gpu.activities.during('checking kernels', () => kernelChecks(gpu, { attention: true }));
  const checks = [...kernels, ...(await gpu.activities.during('checking a tiny model', () => modelTest(gpu)))];
  return {
    app,
    date,
    milliseconds: Math.round(performance.now() - start),
    browser: browser(),
    adapter: gpu.info,
    features: [...gpu.device.features].sort(),
    limits: Object.fromEntries(LIMITS.map((name) => [name, gpu.device.limits[name]])),
    kernels: sha256(testedKernels(gpu).join('\n')),
    failure: firstFailure(checks),
    checks,
  };
}
