import { openPreview, toHubSource } from '@svc/flows';
import type { HubClient } from '@svc/hub-client';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { readMapping } from '@svc/jsonl-v23/mapping';
import { type Config, json, jsonBody, type Route, toJsonText } from '@svc/runtime';
import { HUB_ERRORS, MAPPING, PREVIEW, SOURCE } from './schema.ts';
import { serializePreview } from './serialize.ts';
import { withToken } from './with-token.ts';

/** `POST /datasets/hub/preview` */
export function hubPreviewRoute({
  config,
  hub,
}: {
  readonly config: Config;
  readonly hub: Pick<HubClient, 'openDataset'>;
}): Route {
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
