/** Opens the GPU device, and defines the errors that the engine reports about the device. */

export interface GpuInfo {
  vendor: string;
  architecture: string;
  description: string;
  /** The adapter's model and its driver. Most browsers hide both. */
  device?: string;
  driver?: string;
  /** True for CPU implementations (SwiftShader, lavapipe, WARP). */
  software: boolean;
  /** Smallest subgroup size, 0 without the `subgroups` feature. */
  subgroupSize: number;
}

export class GpuUnavailableError extends Error {
  override name = 'GpuUnavailableError';
}
export class GpuOutOfMemoryError extends Error {
  override name = 'GpuOutOfMemoryError';
}
/** The error for work that the device refused. After such an error, no result of this device can be trusted. */
export class GpuWorkError extends Error {
  override name = 'GpuWorkError';
}

/** Turns an error that the device reported into an error of the engine. */
export function gpuError({ message }: GPUError, kind: 'memory' | 'work'): Error {
  return kind === 'memory'
    ? new GpuOutOfMemoryError(`the GPU ran out of memory: ${message}`)
    : new GpuWorkError(`the GPU refused its work: ${message}`);
}

/** The limits that the engine asks for. */
export const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
] as const;

/**
 * Opens the high-performance adapter with all of its limits.
 * @throws GpuUnavailableError if there is no WebGPU or no adapter.
 */
export async function openDevice(gpu: GPU | undefined): Promise<{ device: GPUDevice; info: GpuInfo }> {
  if (!gpu) throw new GpuUnavailableError('This browser has no WebGPU (navigator.gpu is missing).');
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new GpuUnavailableError('WebGPU is present but gave no adapter: the GPU is blocked or its driver is not supported.');
  const requiredFeatures = (['subgroups'] as GPUFeatureName[]).filter((name) => adapter.features.has(name));
  const requiredLimits = Object.fromEntries(LIMITS.map((name) => [name, adapter.limits[name]]));
  const device = await adapter.requestDevice({ requiredFeatures, requiredLimits });
  // The first browsers with WebGPU had no `adapter.info`.
  const {
    vendor = '',
    architecture = '',
    description = '',
    device: model = '',
    driver = '',
    isFallbackAdapter = false,
    subgroupMinSize = 4,
  } = (adapter.info ?? {}) as Partial<GPUAdapterInfo & { driver: string }>;
  const names = `${vendor} ${architecture} ${description} ${model}`.toLowerCase();
  const software = isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|warp|basic render/.test(names);
  const subgroupSize = requiredFeatures.includes('subgroups') ? subgroupMinSize : 0;
  return { device, info: { vendor, architecture, description, device: model, driver, software, subgroupSize } };
}

/** Architectures of Intel's graphics cards. All others of Intel are part of the processor. */
const INTEL_CARDS = /^(xe-hpg|xe2-hpg|dg1)/;

/**
 * Whether the adapter looks like a part of the processor. On a laptop that also has a graphics card, a browser may choose this slower
 * adapter: on Windows, Chromium ignores `powerPreference`.
 */
export function looksIntegrated({ vendor, architecture, description, device = '', software }: Omit<GpuInfo, 'subgroupSize'>): boolean {
  if (software) return false;
  const names = `${description} ${device}`;
  if (/intel/i.test(vendor)) return !INTEL_CARDS.test(architecture) && !/\barc\b.* [AB]\d{3}/i.test(names);
  // AMD's processors: “AMD Radeon(TM) Graphics”, “Radeon 780M”, “Vega 8 Graphics”.
  return /amd/i.test(vendor) && /radeon(\(tm\))? graphics|radeon \d{3}m\b|vega \d+ graphics/i.test(names);
}
