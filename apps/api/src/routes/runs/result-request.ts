import { parseStoredRunConfig, RunError, rebuildRequest } from '@svc/evaluation';
import { encodeText } from '@svc/pkg-format/internal';
import { RequestError, type Route, type Schema, shape, stream, toJsonText } from '@svc/service';
import { linkOf } from '@svc/service/flows';
import { readStoredJson } from '@svc/store';
import type { RouteDeps } from '../deps.ts';

import { idOf, RUN_READ, resultNameOf } from './path-params.ts';

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

/** `GET /runs/{id}/results/{section}/{order_index}/{repetition}/request` */
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
    responses: { 200: { description: 'the request', schema: REQUEST } },
    errors: ['run_not_found', 'not_found', 'item_too_large', 'unavailable'],
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
