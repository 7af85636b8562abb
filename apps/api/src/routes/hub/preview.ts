import type { JsonObject } from '@svc/jsonl-v23/json';
import { readMapping } from '@svc/jsonl-v23/mapping';
import { createRedactor, runWithContext } from '@svc/observability';
import { invalidMember, json, jsonBody, type Route, shape, toJsonText } from '@svc/service';
import { openPreview, toHubSource } from '@svc/service/flows';
import { classify } from '../../http/problem.ts';
import type { RouteDeps } from '../deps.ts';
import { COUNT_OR_NULL, TEXT } from '../docs/members.ts';
import { HUB_ERRORS, MAPPING, PREVIEW, SOURCE, serializePreview } from './schema.ts';

/** `POST /datasets/hub/preview` */
export function hubPreviewRoute({ config, hub }: RouteDeps): Route {
  return {
    method: 'post',
    path: '/datasets/hub/preview',
    operationId: 'previewHubDataset',
    summary: 'Preview a hub dataset; nothing is stored',
    tag: 'hub',
    access: 'editor',
    body: jsonBody(
      {
        ...SOURCE,
        mapping: { ...MAPPING, type: ['object', 'null'] },
        limit: { type: ['integer', 'null'], minimum: 1, maximum: 100, default: 10 },
      },
      ['path'],
    ),
    produces: 'application/json',
    responses: { 200: { description: 'the preview', schema: PREVIEW } },
    errors: [...HUB_ERRORS, 'column_not_found'],
    handle: async ({ body, signal }) => {
      const request = toHubSource(body);
      return await withToken(request.token, async () => {
        const limit = (body['limit'] as number | null) ?? 10;
        const sent = body['mapping'] as JsonObject | null | undefined;
        const mapping = sent == null ? null : readMapping(sent);
        const { head, readSamples } = await openPreview(hub, request, mapping, signal);
        const rest = `${toJsonText(serializePreview({ ...head, ...NO_ROWS, items: mapping && [] }))}\n`;
        const samples = await readSamples(limit, config.maxPreviewBytes - Buffer.byteLength(rest));
        return json(serializePreview({ ...head, ...samples }));
      });
    },
  };
}

const NO_ROWS = { samples: [], truncatedCells: [], suggestion: null } as const;

const DEFAULT_LIMIT = 20;

/** `GET /hub/datasets` */
export function findHubDatasetsRoute({ hub }: RouteDeps): Route {
  return {
    method: 'get',
    path: '/hub/datasets',
    operationId: 'findHubDatasets',
    summary: 'Search datasets of the hub by name, the most downloaded first',
    tag: 'hub',
    access: 'editor',
    query: {
      q: { type: 'string', minLength: 1, maxLength: 200, description: 'part of the name' },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: DEFAULT_LIMIT },
    },
    produces: 'application/json',
    responses: {
      200: {
        description: 'what the hub finds, with the token of the service',
        schema: shape({
          data: {
            type: 'array',
            items: shape({
              id: TEXT,
              downloads: COUNT_OR_NULL,
              likes: COUNT_OR_NULL,
              gated: {
                type: 'boolean',
                description: 'whether its files need a token that was granted access',
              },
            }),
          },
        }),
      },
    },
    errors: HUB_ERRORS,
    handle: async ({ query, signal }) => {
      if (query['q'] === undefined) throw invalidMember('query', 'q', 'must be present');
      const found = await hub.findDatasets(String(query['q']), {
        limit: Number(query['limit'] ?? DEFAULT_LIMIT),
        signal,
      });
      return json({
        data: found.map(({ id, downloads, likes, isGated }) => ({ id, downloads, likes, gated: isGated })),
      });
    },
  };
}

/** Runs with the token of a request redacted in every log line, and in internal errors, which are logged afterwards. */
export async function withToken<T>(token: string | undefined, run: () => Promise<T>): Promise<T> {
  if (token === undefined) return await run();
  try {
    return await runWithContext({}, run, { secrets: [token] });
  } catch (error) {
    throw classify(error).code === 'internal' ? withoutToken(error, token) : error;
  }
}

function withoutToken(error: unknown, token: string): Error {
  const redact = createRedactor([token]);
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const redacted = new Error(redact(message));
  redacted.name = name;
  redacted.stack = redact(stack ?? '');
  return redacted;
}
