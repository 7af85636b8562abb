// Writes the OpenAPI document of the API's sources to dist/openapi.json, for @svc/client and other generators.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { sourceAliases } from '../../../tools/sources.ts';

const { module } = await runnerImport(
  fileURLToPath(new URL('../src/routes/api-routes.ts', import.meta.url)),
  {
    configFile: false,
    resolve: { alias: sourceAliases() },
  },
);

/** What routes keep for their handlers. It has every member; no handler but that of the document is called. */
const deps = new Proxy(() => deps, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => 0 : deps),
  apply: () => deps,
});
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The document has the pages of the console, whether it is built or not. */
const known = { version, console: { page: '', files: new Map() } };

const routes = module.apiRoutes(new Proxy(known, { get: (target, name) => target[name] ?? deps }));
const route = routes.find(({ operationId }) => operationId === 'getOpenApi');
const { body } = await route.handle();
mkdirSync(new URL('../dist/', import.meta.url), { recursive: true });
writeFileSync(new URL('../dist/openapi.json', import.meta.url), JSON.stringify(body));
