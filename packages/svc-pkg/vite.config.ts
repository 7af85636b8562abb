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
      external: (id) => !/^[./]|^@svc\/(?:evaluation|concurrency)$/.test(id),
    },
  },
});
