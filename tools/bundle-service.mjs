// Bundles a service from the sources, so that it starts in a third of the time: `node tools/bundle-service.mjs <name of an app>`.
// `dist/main.js` then loads `dist/service/`; the other files of `dist` stay as tsc wrote them.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { sourceAliases } from './sources.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const [name = ''] = process.argv.slice(2);
const app = join(root, 'apps', name);

/** The threads. Code finds each beside itself, and all code of a bundle is in one folder. */
const THREADS = [
  'apps/api/src/routes/hub-serving/thread/encoder-thread.ts',
  'packages/service/src/evaluation/threads/check-thread.ts',
  'packages/service/src/flows/threads/convert-thread.ts',
  'packages/service/src/flows/threads/read-thread.ts',
  'packages/hub-client/src/repository/parse-yaml-thread.ts',
  'packages/service/src/store/import/encode/encode-thread.ts',
];
const STARTS_A_THREAD = /import\.meta\.url\.endsWith\(['"]\.ts['"]\)/;

/** A module that finds files by its place, such as migrations, has the place where its package is installed. */
const places = {
  name: 'places',
  transform(code, id) {
    const [, folder, path] = /^(.*)\/src\/(.+)\.ts$/.exec(id) ?? [];
    if (!id.startsWith(root) || id.includes('/node_modules/') || folder === undefined) return null;
    if (!code.includes('import.meta.url') || STARTS_A_THREAD.test(code)) return null;
    const { name: owner } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const module = (builtin) => `process.getBuiltinModule('node:${builtin}')`;
    const manifest = `${module('url')}.pathToFileURL(${module('module')}.createRequire(import.meta.url).resolve('${owner}/package.json'))`;
    const place =
      folder === app
        ? `new URL('../${path}.js', import.meta.url)`
        : `new URL('dist/${path}.js', ${manifest})`;
    return { code: code.replaceAll('import.meta.url', `${place}.href`), map: null };
  },
};

// The worker serves nothing.
const threads = THREADS.filter((source) => name !== 'worker' || !source.startsWith('apps/')).map((source) => [
  /([^/]+)\.ts$/.exec(source)[1],
  join(root, source),
]);
await build({
  configFile: false,
  root: app,
  logLevel: 'warn',
  plugins: [places],
  resolve: { alias: sourceAliases() },
  ssr: { noExternal: true },
  build: {
    ssr: true,
    target: 'node22',
    outDir: join(app, 'dist/service'),
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input: { main: join(app, 'src/main.ts'), ...Object.fromEntries(threads) },
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});
writeFileSync(join(app, 'dist/main.js'), "import './service/main.js';\n");
// `npm start` builds nothing else, and the store reads them there.
cpSync(join(root, 'prisma/migrations'), join(root, 'packages/service/dist/migrations'), { recursive: true });
