import { exportPackage } from '@svc/flows';
import type { Logger } from '@svc/instrumentation';
import { type Route, stream } from '@svc/runtime';
import { type Store, toCorrupt } from '@svc/store';
import { contentDisposition } from '../../http/content-disposition.ts';
import { VERSION } from './resolve-datasets.ts';

export interface ExportDeps {
  readonly logger: Logger;
  readonly store: Pick<Store, 'reads'>;
  /** Secrets known to this process, which no export may hold. */
  readonly secrets: readonly string[];
}

/** `GET /datasets/{id}/export`: a stored dataset, with a run if asked, as a package that streams. */
export function exportRoute({ logger, store, secrets }: ExportDeps): Route {
  return {
    method: 'get',
    path: '/datasets/{id}/export',
    operationId: 'exportDataset',
    summary: 'A dataset as a package archive; the same version gives the same bytes',
    tag: 'datasets',
    access: 'viewer',
    query: {
      run_id: {
        type: 'string',
        description:
          'the run to include, with its results; without `version`, the version of the run is exported',
      },
      ...VERSION,
    },
    produces: 'application/zip',
    streams: 'data',
    responses: {
      200: { description: 'a .pkg.zip archive', schema: { type: 'string', format: 'binary' } },
      304: { description: 'the archive is still the one of `If-None-Match`' },
    },
    errors: ['dataset_not_found', 'run_not_found', 'item_too_large', 'unavailable'],
    handle: async ({ params, query, signal }) => {
      const id = params['id'] ?? '';
      const runId = query['run_id'] as string | undefined;
      const version = query['version'] as number | undefined;
      const startedAt = performance.now();
      await using opening = new AsyncDisposableStack();
      const open = opening.use(await store.reads.datasets.open(id, { version, runId, signal }));
      const found = await exportPackage(open, { runId, secrets, signal });
      const reading = opening.move();
      async function* body(): AsyncGenerator<Uint8Array> {
        let bytes = 0;
        let outcome: 'complete' | 'left' | 'failed' = 'left';
        const facts = (): { dataset_id: string; bytes: number; duration_ms: number } => ({
          dataset_id: id,
          bytes,
          duration_ms: Math.round(performance.now() - startedAt),
        });
        try {
          for await (const chunk of found.bytes()) {
            bytes += chunk.byteLength;
            yield chunk;
          }
          outcome = 'complete';
        } catch (thrown) {
          const error = toCorrupt(thrown);
          if (!signal.aborted) {
            outcome = 'failed';
            logger.log('dataset.export.fail', { ...facts(), error });
          }
          throw error;
        } finally {
          if (outcome !== 'failed') {
            logger.log('dataset.export.finish', {
              ...facts(),
              ...(runId === undefined ? {} : { exported_run_id: runId }),
              complete: outcome === 'complete',
            });
          }
        }
      }
      return stream(
        body(),
        {
          ETag: found.etag,
          'Cache-Control': 'no-cache',
          'Content-Type': 'application/zip',
          'Content-Disposition': contentDisposition(found.fileName),
        },
        () => reading.disposeAsync(),
      );
    },
  };
}
