// Writes the types of the API from the OpenAPI document that the build of @svc/api leaves in its dist folder.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';

const source = new URL('../../../apps/api/dist/openapi.json', import.meta.url);
const target = new URL('../src/generated/openapi.ts', import.meta.url);
const document = JSON.parse(readFileSync(source, 'utf8'));

const types = await openapiTypescript(document, {
  // an object without properties has unknown members, not none
  emptyObjectsUnknown: true,
  // a member with a default may be left out of a request
  defaultNonNullable: false,
});
mkdirSync(new URL('.', target), { recursive: true });
writeFileSync(
  fileURLToPath(target),
  `/** The paths of the API, generated from its OpenAPI document. */\n${astToString(types)}`,
);
