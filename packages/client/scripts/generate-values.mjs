// Writes the values that requests choose from, the schema of a run's configuration and the list of checkers from the OpenAPI
// document that the build of @svc/api leaves in its dist folder. `npm start` runs it without what the types need.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('../../../apps/api/dist/openapi.json', import.meta.url);
const target = new URL('../src/generated/checkers.ts', import.meta.url);
const document = JSON.parse(readFileSync(source, 'utf8'));

mkdirSync(new URL('.', target), { recursive: true });
const resolved = (value) =>
  value?.$ref === undefined
    ? value
    : resolved(
        value.$ref
          .slice(2)
          .split('/')
          .reduce((at, key) => at[key], document),
      );
const { schemas } = document.components;
const checkers = Object.entries(schemas.CheckerOptions.discriminator.mapping).map(([name, ref]) => {
  const { description, properties, 'x-example': example } = schemas[ref.split('/').at(-1)];
  const { type: _, ...options } = properties;
  return { name, description, example, options };
});
writeFileSync(
  fileURLToPath(target),
  `import type { CheckerInfo } from '../checker-info.ts';

/** The checkers of the service, generated from its OpenAPI document. */
export const CHECKERS: readonly CheckerInfo[] = ${JSON.stringify(checkers, null, 2)};
`,
);

/** Path → name of a member of a query or a body → the values that it may have. */
const values = {};
for (const [path, operations] of Object.entries(document.paths)) {
  for (const { parameters = [], requestBody } of Object.values(operations)) {
    const body = resolved(resolved(requestBody)?.content?.['application/json']?.schema)?.properties ?? {};
    const members = [
      ...parameters
        .map(resolved)
        .filter(({ in: place }) => place === 'query')
        .map(({ name, schema }) => [name, schema]),
      ...Object.entries(body),
    ];
    for (const [name, schema] of members) {
      const { enum: named } = resolved(schema);
      if (named !== undefined) values[path] = { ...values[path], [name]: named };
    }
  }
}
writeFileSync(
  fileURLToPath(new URL('request-values.ts', target)),
  `/** The values of the members of requests that have a list of them, by path and name, from the OpenAPI document. */
export const REQUEST_VALUES = ${JSON.stringify(values, null, 2)} as const;
`,
);

/** A schema without references: each in its place. */
const inlined = (value) => {
  if (Array.isArray(value)) return value.map(inlined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(resolved(value)).map(([name, member]) => [name, inlined(member)]));
};
writeFileSync(
  fileURLToPath(new URL('run-config.ts', target)),
  `import type { FieldSchema } from '../checker-info.ts';

/** The schema of the configuration of a run, generated from the OpenAPI document of the API. */
export const RUN_CONFIG: FieldSchema = ${JSON.stringify(inlined(schemas.RunConfig), null, 2)};
`,
);
