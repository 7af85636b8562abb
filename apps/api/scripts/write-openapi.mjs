// Writes the OpenAPI document of the built API to dist/openapi.json, for @svc/client and other generators.
import { readFileSync, writeFileSync } from 'node:fs';
import { apiRoutes } from '../dist/routes/api-routes.js';

/** What routes keep for their handlers. It has every member; no handler but that of the document is called. */
const deps = new Proxy(() => deps, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => 0 : deps),
  apply: () => deps,
});
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The document has the pages of the console, whether it is built or not. */
const known = { version, console: { page: '', files: new Map() } };

const routes = apiRoutes(new Proxy(known, { get: (target, name) => target[name] ?? deps }));
const route = routes.find(({ operationId }) => operationId === 'getOpenApi');
const { body } = await route.handle();
writeFileSync(new URL('../dist/openapi.json', import.meta.url), JSON.stringify(body));
