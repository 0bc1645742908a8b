/** @file Tells the GPU tests of the browser which of them also run on lavapipe. */
import { inject } from 'vitest';
import type { Gpu } from '../../src/engine/gpu.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether the project gpu-node runs its tests on lavapipe. Only the project gpu has this value. */
    lavapipe?: boolean;
  }
}

/** Whether this is SwiftShader in the browser, and the project gpu-node runs the same test on lavapipe. */
export const runsOnLavapipeToo = ({ info }: Gpu): boolean => info.software && inject('lavapipe') === true;
