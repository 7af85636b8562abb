import { defineConfig } from 'vite';

/** Puts the private packages of the service into `dist/evaluation.js`; the others are dependencies. */
export default defineConfig({
  build: {
    ssr: 'src/evaluation.ts',
    outDir: 'dist',
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    rollupOptions: {
      // Nothing of this repository works at import time.
      treeshake: { moduleSideEffects: false },
      external: (id) => !/^[./]|^@svc\/(?:evaluation|concurrency)$/.test(id),
    },
  },
});
