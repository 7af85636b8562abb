import type { Route, Schema } from '@svc/runtime';
import { PROBLEM } from './schemas.ts';

/** Error codes of every route. */
const COMMON_ERRORS = [
  'invalid_request',
  'misdirected_request',
  'not_acceptable',
  'request_timeout',
  'rate_limited',
  'internal',
];

/** Generates the OpenAPI 3.1 document from the schemas that validate requests. */
export function openApiDocument(routes: readonly Route[], version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    (paths[route.path] as Record<string, unknown>)[route.method] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version,
      description:
        'Imports datasets from a hub or an archive, stores them losslessly, exports them, and runs them against models.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: { Problem: PROBLEM },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
      },
    },
  };
}

function operation(route: Route): Record<string, unknown> {
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
      return { name, in: 'path', required: true, schema: { type: 'string' } };
    }),
    ...optionalParameters('query', route.query),
    ...optionalParameters('header', route.headers),
  ];
  const content = (schema: Schema | undefined): Record<string, unknown> =>
    schema === undefined ? {} : { content: { [route.produces]: { schema } } };
  const foreign = route.method === 'get' ? [] : ['cross_origin'];
  const errors = [...new Set([...route.errors, ...foreign, ...COMMON_ERRORS])];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [route.body.contentType]: { schema: route.body.documented ?? route.body.schema } },
          },
        }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, { description, schema }]) => [
          status,
          {
            description,
            headers: { 'X-Request-ID': { schema: { type: 'string' } } },
            ...content(schema),
          },
        ]),
      ),
      default: {
        description: `an error; its code is one of ${errors.join(', ')}`,
        headers: { 'X-Request-ID': { schema: { type: 'string' } } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
    security: isForAnyone(route) ? [] : [{ key: [] }, { session: [] }],
    'x-access': route.access,
  };
}

const isForAnyone = ({ access }: Route): boolean => access === 'public' || access === 'anyone';

function optionalParameters(
  location: 'query' | 'header',
  schemas: Readonly<Record<string, Schema>> = {},
): Record<string, unknown>[] {
  return Object.entries(schemas).map(([name, { description, ...schema }]) => {
    return {
      name,
      in: location,
      required: false,
      schema,
      ...(description === undefined ? {} : { description }),
    };
  });
}
