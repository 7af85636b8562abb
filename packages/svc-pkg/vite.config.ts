import { defineConfig } from 'vite';
import manifest from './package.json' with { type: 'json' };

const installed = Object.keys(manifest.dependencies);

/** Puts the private packages of the service, and the SDK of `mcp`, into files of `dist`; the others are dependencies. */
export default defineConfig({
  ssr: { noExternal: true },
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    // The licences of what is put there ask for it.
    license: { fileName: 'licences.md' },
    rollupOptions: {
      input: { evaluation: 'src/evaluation.ts', 'mcp/sdk': 'src/mcp/sdk.ts' },
      // Nothing of this repository works at import time.
      treeshake: { moduleSideEffects: false },
      external: (id) =>
        id.startsWith('node:') || installed.some((name) => id === name || id.startsWith(`${name}/`)),
    },
  },
});
