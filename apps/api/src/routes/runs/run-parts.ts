import { encodeText } from '@svc/pkg-format';
import {
  invalidMember,
  type JsonBody,
  JsonText,
  json,
  ok,
  RequestError,
  type Route,
  type Schema,
  shape,
  stream,
  toJsonText,
} from '@svc/service';
import { parseStoredRunConfig, RunError, rebuildRequest } from '@svc/service/evaluation';
import { linkOf } from '@svc/service/flows';
import {
  PAIR_BY,
  type RunErrorExample,
  type RunErrorGroup,
  type RunSlice,
  readStoredJson,
} from '@svc/service/store';
import type { RouteDeps } from '../deps.ts';
import {
  COUNT,
  ITEM_ID,
  listOf,
  PLACED_PAGE_QUERY,
  POSITIVE,
  record,
  storedJson,
  TEXT,
} from '../docs/schemas.ts';
import { toPage, wanted } from '../page.ts';
import { idOf, RUN_READ, resultNameOf } from './run-queries.ts';
import {
  COMPARED,
  COMPARED_SLICES,
  COMPARISON,
  DIFFERENCE,
  GROUP_SCORES,
  SCORER_QUERY,
} from './score-schemas.ts';

const SLICE: Schema = shape({
  values: {
    type: 'array',
    items: {},
    description: 'in the order of `by`; null for items without the value',
  },
  ...GROUP_SCORES,
});

const ERROR_EXAMPLE = record<RunErrorExample>({
  section: TEXT,
  order_index: COUNT,
  repetition: POSITIVE,
  item_id: storedJson(ITEM_ID),
  message: { type: 'string', description: 'the original message' },
});

const ERROR_GROUP = record<RunErrorGroup>({
  group: { type: 'string', description: 'id of the group, for the parameter `error` of a list of results' },
  code: TEXT,
  message: { type: 'string', description: 'the message with `<n>` for numbers and `<id>` for identifiers' },
  count: COUNT,
  examples: listOf(ERROR_EXAMPLE, { type: 'array', maxItems: 3, items: ERROR_EXAMPLE.schema }),
});

export function runPartsRoutes({ store: { runs } }: RouteDeps): readonly Route[] {
  return [
    {
      ...RUN_READ,
      path: '/runs/{id}/slices',
      operationId: 'sliceRun',
      summary: 'The scores of a run by values of its items, such as `by=/meta/level`',
      query: {
        by: {
          type: 'array',
          minItems: 1,
          maxItems: 2,
          items: {
            type: 'string',
            maxLength: 1024,
            pattern: '^(?:section|tag|/(?:[^~]|~[01])*)$',
            'x-rule': 'must be section, tag, or a JSON Pointer such as /meta/level',
          },
          description:
            '`section`, `tag`, or a JSON Pointer into the item, each with at most 50 values; repeat the parameter for a second key. `tag` alone gives the 50 tags with most results',
        },
        scorer: SCORER_QUERY,
      },
      responses: ok(
        'the scores of each slice, in the order of the values',
        shape({
          data: { type: 'array', items: SLICE },
          meta: shape({ by: { type: 'array', items: TEXT }, total_items: COUNT }),
        }),
      ),
      handle: async ({ params, query, signal }) => {
        const by = query['by'] as readonly string[] | undefined;
        if (by === undefined) throw invalidMember('query', 'by', 'is missing');
        const slices = await runs.slice(idOf(params), {
          ...{ by, signal },
          scorer: query['scorer'] as string | undefined,
        });
        return json({ data: slices.map(serializeSlice), meta: { by: [...by], total_items: slices.length } });
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/errors',
      operationId: 'listRunErrors',
      summary: 'Group the errors of a run by message, largest groups first',
      responses: ok(
        'at most 100 groups',
        shape({ data: { type: 'array', maxItems: 100, items: ERROR_GROUP.schema } }),
      ),
      handle: async ({ params, signal }) => {
        const groups = await runs.errors(idOf(params), signal);
        return json({ data: groups.map(ERROR_GROUP.toBody) });
      },
    },
  ];
}

function serializeSlice({ values, scores }: RunSlice): JsonBody {
  return {
    values: values.map((value) => new JsonText(value)),
    ...(scores as unknown as Record<string, JsonBody>),
  };
}

const REQUEST: Schema = shape({
  method: { type: 'string', enum: ['POST'] },
  url: { type: 'string' },
  headers: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'without the key, and without headers of the connection',
  },
  body: {
    type: 'object',
    additionalProperties: true,
    description: 'with `assets=embed`, its text is byte for byte what was sent',
  },
});

export function resultRequestRoute({ store: { runs, assets }, checks }: RouteDeps): Route {
  return {
    ...RUN_READ,
    path: '/runs/{id}/results/{section}/{order_index}/{repetition}/request',
    operationId: 'getResultRequest',
    summary:
      'The request that the model was sent for a result, rebuilt from the item and the configuration, without the key',
    query: {
      assets: {
        type: 'string',
        enum: ['embed', 'link'],
        default: 'link',
        description:
          '`link` replaces the content of each embedded file by a link; `embed` keeps it as it was sent',
      },
    },
    streams: 'data',
    responses: ok('the request', REQUEST),
    errors: ['not_found', 'item_too_large'],
    handle: async ({ params, query, signal }) => {
      const found = await runs.itemOfResult(idOf(params), resultNameOf(params), signal);
      if (found === null) throw notFound('The run has no such result.');
      const readFile = (
        file: { readonly sha256: string; readonly byteLength: number },
        reading: AbortSignal,
      ) => assets.read(file.sha256, { range: { start: 0, end: file.byteLength }, signal: reading });
      const request = await rebuilt(() =>
        rebuildRequest(
          { checks, readFile },
          parseStoredRunConfig(readStoredJson(found.run.config)),
          found,
          signal,
        ),
      );
      const urlOf = linkOf(found.run.datasetId, found.run.datasetVersion);
      const { url, headers, body } = request;
      const text = query['assets'] === 'embed' ? body.open(signal) : request.linked(urlOf);
      async function* pieces(): AsyncGenerator<Uint8Array> {
        const head = toJsonText({ method: 'POST', url: url.href, headers: { ...headers } });
        yield Buffer.from(`${head.slice(0, -1)},"body":`);
        if (typeof text === 'string') yield* encodeText(text);
        else if (Buffer.isBuffer(text)) yield text;
        else yield* text as AsyncIterable<Buffer>;
        yield Buffer.from('}\n');
      }
      return stream(pieces(), { 'Content-Type': 'application/json' });
    },
  };
}

/** The configuration of an imported run may be any object, and an item may lack what a prompt needs. */
async function rebuilt<T>(rebuild: () => Promise<T | null>): Promise<T> {
  let reason = 'its provider sends no requests';
  try {
    const request = await rebuild();
    if (request !== null) return request;
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    reason = error.message;
  }
  throw notFound(`There is no request for the result: ${reason}`);
}

function notFound(message: string): RequestError {
  return new RequestError('not_found', message.endsWith('.') ? message : `${message}.`);
}

const SCORED_PAIRS: Readonly<Record<string, Schema>> = {
  scorer: SCORER_QUERY,
  pair_by: {
    type: 'string',
    enum: PAIR_BY,
    default: 'hash',
    description: 'how items of both runs are paired; items with equal values are paired in order',
  },
  cluster_by: {
    type: 'string',
    maxLength: 1024,
    pattern: '^(?:none|/(?:[^~]|~[01])*)$',
    'x-rule': 'must be a JSON Pointer such as /meta/passage, or none',
    description: 'cluster standard errors by this value; by default as both runs are configured',
  },
};

export function compareRoutes({ store: { runs } }: RouteDeps): readonly Route[] {
  return [
    {
      ...RUN_READ,
      path: '/runs/{id}/compare/{other_id}',
      operationId: 'compareRuns',
      summary: 'Compare another run with this one, over the items that both have scored',
      query: {
        ...PLACED_PAGE_QUERY,
        only: {
          type: 'string',
          enum: ['regressions', 'improvements', 'changed_output'],
          description:
            'list only items with a lower score, a higher score, or another output in the other run',
        },
        ...SCORED_PAIRS,
      },
      responses: ok('the comparison, and a page of the items in which the runs differ', COMPARISON),
      handle: async (request) => {
        const { params, query } = request;
        const found = await runs.compare(idOf(params), params['other_id'] ?? '', wanted(request));
        return json({
          ...found.scores,
          ...COMPARED.toBody(found),
          ...toPage(found, query, (item) =>
            DIFFERENCE.toBody({ ...item, difference: item.otherScore - item.score }),
          ),
        });
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/compare/{other_id}/slices',
      operationId: 'compareRunSlices',
      summary: 'Compare another run with this one by slices of the items that both have scored',
      query: {
        by: {
          type: 'string',
          maxLength: 1024,
          pattern: '^(?:tag|/(?:[^~]|~[01])*)$',
          'x-rule': 'must be tag, or a JSON Pointer such as /meta/level',
          description:
            '`tag`, the default, or a JSON Pointer into the items of this run, of at most 50 values; of tags the first 50',
        },
        ...SCORED_PAIRS,
      },
      responses: ok('the slices, those with most pairs first', COMPARED_SLICES),
      handle: async (request) => {
        const { params, query } = request;
        const by = (query['by'] as string | undefined) ?? 'tag';
        const slices = await runs.compareSlices(
          idOf(params),
          params['other_id'] ?? '',
          wanted(request, { by }),
        );
        return json({
          data: slices.map(({ value, scores }) => ({ values: [new JsonText(value)], ...scores })),
        });
      },
    },
  ];
}
