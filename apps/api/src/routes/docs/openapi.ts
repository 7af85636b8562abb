import type { Route, Schema } from '@svc/service';
import {
  CHECKER_NAME_SCHEMA,
  CHECKER_OPTIONS_SCHEMA,
  CHECKER_SCHEMA,
  CHECKER_SCHEMAS,
  JUDGE_SCHEMA,
  PRICE_SCHEMA,
  PROVIDER_SCHEMA,
  PROVIDER_SCHEMAS,
  RUN_CONFIG_SCHEMA,
  SCORER_SCHEMA,
  SELECT_SCHEMA,
} from '@svc/service/evaluation';
import { DATASET_VERSION } from '../datasets/routes.ts';
import { DRY_RUN, MAPPING, PREVIEW } from '../hub/schema.ts';
import { JOB } from '../jobs.ts';
import { SETTINGS, STATUS } from '../operation.ts';
import { AGREEMENT, COMPARISON, LABEL, LABELS } from '../runs/score-schemas.ts';
import { PLAN, PLANNED, RUN, RUN_RESULT, STORED_CONFIG } from '../runs/serialize.ts';
import { SESSION } from '../session.ts';
import { UPLOAD_FORM, UPLOAD_PREVIEW } from '../uploads/upload.ts';
import {
  CHANGE,
  CHANGED_DATASET,
  CHANGED_ITEM,
  DATASET,
  DATASET_SUMMARY,
  DIFF,
  ITEM,
  LISTED_DATASET,
  PLACED_DIFFERENCE,
  PROBLEM,
  SECTION,
} from './schemas.ts';

const COMMON_ERRORS = [
  'invalid_request',
  'misdirected_request',
  'not_acceptable',
  'request_timeout',
  'rate_limited',
  'request_id_too_long',
  'internal',
];

const JSON_BODY_ERRORS = ['invalid_json', 'body_too_large', 'unsupported_media_type'];

const IMPLIED_ERRORS: Readonly<Record<string, (route: Route) => boolean>> = {
  dataset_not_found: ({ path }) => path.startsWith('/datasets/{id}'),
  version_not_found: ({ path, query = {} }) => path.startsWith('/datasets/{id}') && 'version' in query,
  ambiguous_version: ({ path, query = {} }) => path.startsWith('/datasets/{id}') && 'version' in query,
  run_not_found: ({ path }) => path.startsWith('/runs/{id}'),
  job_not_found: ({ path }) => path.startsWith('/jobs/{id}'),
  // A tree of the hub begins anew at a cursor that is none.
  invalid_cursor: ({ path, query = {} }) => 'cursor' in query && !path.includes('/tree/'),
  scorer_not_found: ({ query = {} }) => 'scorer' in query,
  version_changed: ({ headers = {} }) => 'If-Match' in headers,
  idempotency_key_reused: ({ headers = {} }) => 'Idempotency-Key' in headers,
  unavailable: ({ access, operationId }) =>
    (access === 'viewer' || access === 'editor' || access === 'admin') &&
    !WITHOUT_DATABASE.includes(operationId),
};

/** They ask the hub, or nobody. */
const WITHOUT_DATABASE = ['findHubDatasets', 'previewHubDataset', 'getHubCaller', 'sendOnboardingTelemetry'];

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
      content: {
        [route.produces ?? 'application/json']: {
          schema: documented,
          ...exampleOf(RESPONSE_EXAMPLES, route),
        },
      },
    };
  };
  const foreign = route.method === 'get' ? [] : ['cross_origin'];
  const ofBody = route.body?.contentType === 'application/json' ? JSON_BODY_ERRORS : [];
  const implied = Object.keys(IMPLIED_ERRORS).filter((code) => IMPLIED_ERRORS[code]?.(route));
  const own = [...ofBody, ...(route.errors ?? []), ...implied];
  const errors = [...new Set([...own, ...foreign, ...COMMON_ERRORS])];
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

export const RESPONSE_EXAMPLES: Readonly<Record<string, unknown>> = {
  getHealth: { status: 'ok' },
  getSettings: { cancellation_check_interval_ms: 2000, telemetry: 'opt-in' },
};

const PROBLEM_EXAMPLE: unknown = {
  type: 'https://github.com/svc-data/svc/blob/main/docs/errors.md#dataset_not_found',
  title: 'Dataset not found',
  status: 404,
  detail: 'Dataset 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d not found.',
  instance: '/datasets/7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d',
  code: 'dataset_not_found',
  request_id: '0f7c3a5e9b1d4c2f8a6e0d9b7c5a3f1e',
};

interface Named {
  readonly name: string;
  /** For a schema without a `description`. */
  readonly description?: string;
}

const NAMED: ReadonlyMap<unknown, Named> = new Map<unknown, Named>([
  [
    CHANGED_ITEM.schema,
    { name: 'ChangedItem', description: 'an item with other content, and its members that differ' },
  ],
  [PLACED_DIFFERENCE.schema, { name: 'PlacedDifference', description: 'an item that is added or removed' }],
  [DATASET, { name: 'Dataset', description: 'a dataset with its whole `schema`' }],
  [DATASET_SUMMARY, { name: 'DatasetSummary', description: 'a dataset without a large `schema`' }],
  [LISTED_DATASET, { name: 'ListedDataset', description: 'a dataset as it appears in lists' }],
  [CHANGE, { name: 'DatasetChange', description: 'how a version differs from the one before' }],
  [CHANGED_DATASET, { name: 'ChangedDataset', description: 'a dataset after a change, and what changed' }],
  [DATASET_VERSION.schema, { name: 'DatasetVersion', description: 'a version in the history of a dataset' }],
  [DIFF, { name: 'DatasetDiff', description: 'how the items of two datasets differ, a page at a time' }],
  [DRY_RUN, { name: 'DryRun', description: 'what an import or upload would store, and its errors' }],
  [ITEM, { name: 'ListedItem', description: 'an item with its position in the dataset' }],
  [JOB, { name: 'Job', description: 'an import or upload in the background' }],
  [MAPPING, { name: 'Mapping' }],
  [PREVIEW, { name: 'HubPreview', description: 'the columns, splits and first rows of a hub dataset' }],
  [PROBLEM, { name: 'Problem', description: 'an error, with the members of RFC 9457' }],
  [SECTION.schema, { name: 'Section', description: 'a section of a dataset' }],
  [UPLOAD_FORM, { name: 'UploadForm', description: 'the files of an upload, and how to read them' }],
  [PLANNED, { name: 'PlannedRun', description: 'what a run would do' }],
  [PLAN, { name: 'RunPlan', description: 'counts of items and requests' }],
  [RUN, { name: 'Run', description: 'a run of a dataset, with its progress and scores' }],
  [RUN_RESULT, { name: 'RunResult', description: 'the result of one item and repetition' }],
  [COMPARISON, { name: 'RunComparison', description: 'how two runs differ, and a page of those items' }],
  [LABEL.schema, { name: 'Label', description: 'what a person says of an output' }],
  [LABELS, { name: 'RunLabels', description: 'a page of the labels of a run, and a summary of all' }],
  [
    AGREEMENT,
    { name: 'RunAgreement', description: 'how a scorer agrees with people, and where it does not' },
  ],
  [SESSION, { name: 'Session', description: 'who the caller is' }],
  [SETTINGS, { name: 'Settings', description: 'what an operator can change at run time' }],
  [STATUS, { name: 'Status', description: 'what the service does now, and how much it stores' }],
  [UPLOAD_PREVIEW, { name: 'UploadPreview', description: 'the kind and the first rows of files' }],
  [RUN_CONFIG_SCHEMA, { name: 'RunConfig' }],
  [STORED_CONFIG, { name: 'StoredRunConfig' }],
  [SELECT_SCHEMA, { name: 'ItemSelection' }],
  [PRICE_SCHEMA, { name: 'Price' }],
  [JUDGE_SCHEMA, { name: 'Judge' }],
  [SCORER_SCHEMA, { name: 'Scorer' }],
  [PROVIDER_SCHEMA, { name: 'Provider' }],
  [PROVIDER_SCHEMAS.openai_compatible, { name: 'OpenAICompatibleProvider' }],
  [PROVIDER_SCHEMAS.anthropic, { name: 'AnthropicProvider' }],
  [PROVIDER_SCHEMAS.item_field, { name: 'ItemFieldProvider' }],
  [PROVIDER_SCHEMAS.external, { name: 'ExternalProvider' }],
  [PROVIDER_SCHEMAS.echo, { name: 'EchoProvider' }],
  [CHECKER_SCHEMA, { name: 'Checker' }],
  [CHECKER_NAME_SCHEMA, { name: 'CheckerName' }],
  [CHECKER_OPTIONS_SCHEMA, { name: 'CheckerOptions' }],
  ...Array.from(CHECKER_SCHEMAS, ([type, schema]): [Schema, Named] => [
    schema,
    { name: `${type.replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())}Checker` },
  ]),
]);

type Components = ReturnType<typeof createComponents>;

/** Collects the schemas of a document under names, so that generated clients have types with names. */
function createComponents() {
  const schemas: Record<string, Schema> = {};
  const firstNames = new Map<Schema, Named>();
  const refer = ({ name, description }: Named, schema: Schema): Schema => {
    schemas[name] ??= documented({ ...(description === undefined ? {} : { description }), ...schema });
    return { $ref: `#/components/schemas/${name}` };
  };
  const visit = (value: unknown): unknown => {
    const named = NAMED.get(value);
    return named === undefined ? documented(value) : refer(named, value as Schema);
  };
  function documented<T>(value: T): T;
  function documented(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).filter(([key]) => key !== 'x-rule');
    return Object.fromEntries(
      members.map(([key, member]) => {
        if (key === 'pattern' && typeof member === 'string') return [key, portablePattern(member)];
        if (key === 'discriminator') return [key, withMapping(member, (value as Union).oneOf)];
        return [key, visit(member)];
      }),
    );
  }
  /** Generators without it expect the names of the schemas as the values of the property. */
  const withMapping = (
    discriminator: { readonly propertyName: string },
    variants: Union['oneOf'],
  ): object => {
    const { propertyName } = discriminator;
    const mapping = variants.map((variant) => {
      const { $ref } = visit(variant) as { readonly $ref: string };
      return [variant.properties[propertyName]?.const, $ref];
    });
    return { ...discriminator, mapping: Object.fromEntries(mapping) };
  };
  return {
    schemas,
    /** The schema for the document, or a reference to it; an object without a name gets this one. */
    add(schema: Schema, fallback: Named): Schema {
      if (!NAMED.has(schema) && schema['properties'] === undefined) return documented(schema);
      // One schema of two operations has one name.
      const named = NAMED.get(schema) ?? firstNames.get(schema) ?? fallback;
      firstNames.set(schema, named);
      return refer(named, schema);
    },
  };
}

/** A union whose variants state their kind as a constant. */
interface Union {
  readonly oneOf: readonly {
    readonly properties: Readonly<Record<string, { readonly const: string }>>;
  }[];
}

/** `(?!...)`, with groups inside that hold no further groups. */
const LOOKAHEAD = /\(\?!(?:[^()]|\([^()]*\))*\)/g;

/**
 * The pattern without look-ahead, which Rust's `regex` (pydantic) and RE2 (Go) do not have: it matches everything that the
 * service accepts, and a little more.
 */
function portablePattern(pattern: string): string {
  return pattern.replaceAll(LOOKAHEAD, '');
}
