/** @file The page of the gallery, for developers: `npx vite --config tests/gallery/vite.config.ts`. It starts no trainer. */
import '../../src/base/content-policy.ts';

// The policy comes first: zod would try `new Function` where a schema is made.
void import('./show.ts');
