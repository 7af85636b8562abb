import type { Route, Schema } from '@svc/runtime';
import { type Components, createComponents } from './components.ts';
import { PROBLEM_EXAMPLE, REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from './examples.ts';
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
  const components = createComponents();
  const problem = components.add(PROBLEM, 'Problem');
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    (paths[route.path] as Record<string, unknown>)[route.method] = operation(route, components, problem);
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
      schemas: components.schemas,
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
      },
    },
  };
}

function operation(route: Route, components: Components, problem: Schema): Record<string, unknown> {
  const name = `${route.operationId.charAt(0).toUpperCase()}${route.operationId.slice(1)}`;
  const parameters = [
    ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
      return { name, in: 'path', required: true, schema: { type: 'string' } };
    }),
    ...optionalParameters('query', route.query, components),
    ...optionalParameters('header', route.headers, components),
  ];
  const content = (schema: Schema | undefined): Record<string, unknown> => {
    if (schema === undefined) return {};
    const documented = components.add(schema, `${name}Response`);
    return {
      content: { [route.produces]: { schema: documented, ...exampleOf(RESPONSE_EXAMPLES, route) } },
    };
  };
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
            content: {
              [route.body.contentType]: {
                schema: components.add(route.body.documented ?? route.body.schema, `${name}Request`),
                ...exampleOf(REQUEST_EXAMPLES, route),
              },
            },
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
        content: { 'application/json': { schema: problem, example: PROBLEM_EXAMPLE } },
      },
    },
    security: isForAnyone(route) ? [] : [{ key: [] }, { session: [] }],
    'x-access': route.access,
  };
}

function exampleOf(examples: Readonly<Record<string, unknown>>, { operationId }: Route): object {
  return Object.hasOwn(examples, operationId) ? { example: examples[operationId] } : {};
}

const isForAnyone = ({ access }: Route): boolean => access === 'public' || access === 'anyone';

function optionalParameters(
  location: 'query' | 'header',
  schemas: Readonly<Record<string, Schema>> = {},
  components: Components,
): Record<string, unknown>[] {
  return Object.entries(schemas).map(([name, { description, ...schema }]) => {
    return {
      name,
      in: location,
      required: false,
      schema: components.add(schema, name),
      ...(description === undefined ? {} : { description }),
    };
  });
}
