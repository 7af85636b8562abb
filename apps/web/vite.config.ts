import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { sourceAliases } from '../../tools/sources.ts';
import { BRAND, MARK_SVG } from './src/brand.ts';

/** What the service replaces with a new nonce in every page that it sends. */
const NONCE = '__CSP_NONCE__';

export default defineConfig({
  base: '/console/',
  plugins: [react(), face(), woff2Only(), precompress()],
  resolve: {
    alias: [
      { find: '@examples', replacement: fileURLToPath(new URL('../../examples', import.meta.url)) },
      ...sourceAliases('default'),
    ],
  },
  html: { cspNonce: NONCE },
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    // these know `light-dark()`; what older ones would get instead works without an attribute of the page only
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // small files too are separate requests: the policy of the page allows no inline scripts or fonts
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    // What most pages need is one file: many small ones compress worse.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 11 }] } } },
  },
  // `vite` in this folder develops the pages against a service on its default port
  server: { proxy: { '^/(?!console(?:/|$))': 'http://127.0.0.1:8080' } },
});

/** Writes the mark into the page, whose policy allows `data:` pictures; in development the name too. */
function face(): Plugin {
  return {
    name: 'face',
    transformIndexHtml: {
      order: 'pre',
      handler: (html, { server }) => {
        const icon = `data:image/svg+xml,${encodeURIComponent(MARK_SVG)}`;
        const page = html.replace('__ICON__', icon);
        return server === undefined ? page : page.replaceAll('__NAME__', BRAND.name);
      },
    },
  };
}

/** Leaves out the fonts of browsers that this target excludes. */
function woff2Only(): Plugin {
  return {
    name: 'woff2-only',
    enforce: 'pre',
    transform: (code, id) =>
      id.includes('katex') && id.endsWith('.css')
        ? code.replaceAll(/,url\([^)]{0,300}\.(?:woff|ttf)\) format\("[^"]{0,40}"\)/g, '')
        : null,
  };
}

/** Writes each script and style a second and third time, compressed once and for all. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    writeBundle: async ({ dir = '' }) => {
      const folder = join(dir, 'assets');
      const names = (await readdir(folder)).filter((name) => /\.(?:js|css|svg)$/.test(name));
      await Promise.all(
        names.map(async (name) => {
          const path = join(folder, name);
          const bytes = await readFile(path);
          await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes));
          await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
        }),
      );
    },
  };
}
