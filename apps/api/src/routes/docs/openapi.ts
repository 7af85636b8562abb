import type { Route, Schema } from '@svc/service';
import { type Components, createComponents } from './components.ts';
import { PROBLEM } from './schemas.ts';

/** Error codes of every route. */
const COMMON_ERRORS = [
  'invalid_request',
  'misdirected_request',
  'not_acceptable',
  'request_timeout',
  'rate_limited',
  'request_id_too_long',
  'internal',
];

/** Error codes of every route with a JSON body. */
const JSON_BODY_ERRORS = ['invalid_json', 'body_too_large', 'unsupported_media_type'];

/** What the tags of routes group. */
const TAGS: Readonly<Record<string, string>> = {
  datasets: 'Upload, read, change, compare and export datasets',
  hub: 'Preview and import datasets of the hub',
  'hub-serving': 'Datasets as repositories, for clients of the hub: set their HF_ENDPOINT to this service',
  runs: 'Run datasets against models, and read the results',
  jobs: 'Imports and uploads in the background',
  settings: 'What an operator can change at run time',
  session: 'Sessions of browsers',
  operation: 'Health and metrics',
  console: 'The pages of the console',
  documentation: 'This document and its page',
};

/** Generates the OpenAPI 3.1 document from the schemas that validate requests. */
export function openApiDocument(routes: readonly Route[], version: string): Record<string, unknown> {
  const components = createComponents();
  const problem = components.add(PROBLEM, { name: 'Problem' });
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace('{+', '{');
    paths[path] ??= {};
    (paths[path] as Record<string, unknown>)[route.method] = operation(route, components);
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
    servers: [{ url: '/', description: 'the service that serves this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      headers: { RequestId: { description: 'the id of the request in logs', schema: { type: 'string' } } },
      responses: {
        Refused: {
          description: 'the request was refused; `code` has the reason',
          headers: REQUEST_ID,
          content: problemContent(problem),
        },
        Failed: {
          description: 'the service could not respond; `code` has the reason',
          headers: REQUEST_ID,
          content: problemContent(problem),
        },
      },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'svc_session' },
      },
    },
  };
}

const REQUEST_ID = { 'X-Request-ID': { $ref: '#/components/headers/RequestId' } };

const problemContent = (problem: Schema): object => {
  return { 'application/json': { schema: problem, example: PROBLEM_EXAMPLE } };
};

function operation(route: Route, components: Components): Record<string, unknown> {
  const name = `${route.operationId.charAt(0).toUpperCase()}${route.operationId.slice(1)}`;
  const parameters = [
    ...[...route.path.matchAll(/\{\+?(\w+)\}/g)].map(([, name]) => {
      return { name, in: 'path', required: true, schema: { type: 'string' } };
    }),
    ...optionalParameters('query', route.query, components),
    ...optionalParameters('header', route.headers, components),
  ];
  const content = (schema: Schema | undefined, description: string): Record<string, unknown> => {
    if (schema === undefined) return {};
    const documented = components.add(schema, {
      name: `${name}Response`,
      description: `the response of \`${route.operationId}\`: ${description}`,
    });
    return {
      content: { [route.produces]: { schema: documented, ...exampleOf(RESPONSE_EXAMPLES, route) } },
    };
  };
  const foreign = route.method === 'get' ? [] : ['cross_origin'];
  const ofBody = route.body?.contentType === 'application/json' ? JSON_BODY_ERRORS : [];
  const errors = [...new Set([...ofBody, ...route.errors, ...foreign, ...COMMON_ERRORS])];
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: `Errors: ${errors.map((code) => `\`${code}\``).join(', ')}.`,
    tags: [route.tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              [route.body.contentType]: {
                schema: components.add(route.body.documented ?? route.body.schema, {
                  name: `${name}Request`,
                  description: `the body of \`${route.operationId}\``,
                }),
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
            headers: REQUEST_ID,
            ...content(schema, description),
          },
        ]),
      ),
      '4XX': { $ref: '#/components/responses/Refused' },
      default: { $ref: '#/components/responses/Failed' },
    },
    security: securityOf(route.access),
    'x-access': route.access,
  };
}

function exampleOf(examples: Readonly<Record<string, unknown>>, { operationId }: Route): object {
  return Object.hasOwn(examples, operationId) ? { example: examples[operationId] } : {};
}

/** Whether a caller must, may or need not identify itself. */
function securityOf(access: Route['access']): readonly object[] {
  const either = [{ key: [] }, { session: [] }];
  if (access === 'public') return [];
  return access === 'anyone' ? [{}, ...either] : either;
}

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
      schema: components.add(schema, { name }),
      ...(description === undefined ? {} : { description }),
    };
  });
}

/** Request bodies that the service accepts, by the `operationId` of their route. */
export const REQUEST_EXAMPLES: Readonly<Record<string, unknown>> = {
  previewHubDataset: { path: 'openai/gsm8k', subset: 'main', split: 'test', limit: 3 },
  importHubDataset: {
    name: 'GSM8K test',
    config: { path: 'openai/gsm8k', subset: 'main', split: 'test' },
    mapping: { prompt_column: 'question', answer_column: 'answer', meta_columns: { source: 'answer' } },
  },
  createRun: {
    dataset_id: '7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d',
    name: 'trial',
    config: { provider: { type: 'echo' }, checker: { type: 'exact_match' } },
  },
  editItems: {
    edits: [
      { item_id: 'q-17', item: { id: 'q-17', inputs: { prompt: 'What is 6 × 7?' }, answer: '42' } },
      { item_id: 'q-18', section: 'test', remove: true },
    ],
    message: 'a typing error, and an item that leaked',
  },
  restoreVersion: { version: 3, message: 'the corrections were wrong' },
  updateDataset: { handle: 'gsm8k-test', description: 'Grade school math, test split' },
  updateSettings: { cancellation_check_interval_ms: 1000 },
};

/** Response bodies, by the `operationId` of their route. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, unknown>> = {
  getHealth: { status: 'ok' },
  getSettings: { cancellation_check_interval_ms: 2000, telemetry: 'opt-in' },
};

/** An error of any route. */
const PROBLEM_EXAMPLE: unknown = {
  type: 'https://github.com/svc-data/svc/blob/main/docs/errors.md#dataset_not_found',
  title: 'Dataset not found',
  status: 404,
  detail: 'Dataset 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d not found.',
  instance: '/datasets/7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d',
  code: 'dataset_not_found',
  request_id: '0f7c3a5e9b1d4c2f8a6e0d9b7c5a3f1e',
};
