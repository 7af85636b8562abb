// Writes the types of the API from the OpenAPI document that the build of @svc/api leaves in its dist folder.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';

const source = new URL(import.meta.resolve('@svc/api/openapi.json'));
const target = new URL('../src/generated/openapi.ts', import.meta.url);

const types = await openapiTypescript(JSON.parse(readFileSync(source, 'utf8')), {
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
