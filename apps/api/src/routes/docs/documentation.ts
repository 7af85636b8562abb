import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { json, ok, RequestError, type Route, text } from '@svc/service';
import { type ConsoleFiles, consolePage } from '../console.ts';
import { openApiDocument } from './openapi.ts';

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>svc API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<main id="api"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;

// Disable the validator, which would send the document to another host.
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#api', deepLinking: true, validatorUrl: null });\n`;

export function documentationRoutes(
  routes: readonly Route[],
  version: string,
  console: ConsoleFiles | null,
): readonly Route[] {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const common = { method: 'get', tag: 'documentation', access: 'public' } as const;
  const own: readonly Route[] = [
    {
      ...common,
      path: '/',
      operationId: 'getRoot',
      summary: 'The console in a browser; for other clients, where to find the documentation',
      // Chosen by the handler: a browser may accept nothing but HTML.
      produces: '*/*',
      responses: ok('paths of this service', { type: 'object' }),
      handle: async ({ header }) =>
        console !== null && header('accept')?.includes('text/html') === true
          ? consolePage(console, header('cookie'))
          : json({ name: 'svc', version, docs: '/docs', openapi: '/openapi.json' }, 200, { Vary: 'Accept' }),
    },
    {
      ...common,
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'This document',
      responses: ok('OpenAPI 3.1', { type: 'object' }),
      handle: async () => json(document as never),
    },
    {
      ...common,
      path: '/docs',
      operationId: 'getDocs',
      summary: 'A page to read and try the API',
      produces: 'text/html',
      responses: ok('HTML', { type: 'string' }),
      handle: async () => text(PAGE, 'text/html; charset=utf-8'),
    },
    {
      ...common,
      path: '/docs/{file}',
      operationId: 'getDocsFile',
      summary: 'A file of that page',
      produces: '*/*',
      responses: ok('the file', { type: 'string' }),
      errors: ['not_found'],
      handle: async ({ params }) => {
        const name = params['file'] ?? '';
        if (name === 'start.js') return text(START, 'text/javascript; charset=utf-8');
        const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
        if (type === undefined)
          throw new RequestError(
            'not_found',
            `The documentation has no file ${JSON.stringify(name.slice(0, 100))}.`,
          );
        return text(await readFile(join(folder, name), 'utf8'), type);
      },
    },
  ];
  const document = openApiDocument([...routes, ...own], version);
  return own;
}
