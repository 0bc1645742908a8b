/** This file runs instead of the tests of the project gpu-node if the machine has no lavapipe. */
import { test } from 'vitest';

test.skip('the GPU tests in Node: lavapipe is not installed (package mesa-vulkan-drivers, Mesa 24 or newer)', () => {});
