import type { Route, RouteResponse } from '@svc/service';
import { exportPackage, exportTool, WRITTEN_TOOLS, type WrittenTool } from '@svc/service/flows';
import { assetNotFound, toCorrupt } from '@svc/service/store';
import { downloadResponse, mediaHeaders, rangedResponse, rangedRoute, SAFE } from '../../http/send-file.ts';
import type { RouteDeps } from '../deps.ts';
import { DATASET_READ, VERSION } from './routes.ts';

const QUERY = {
  format: {
    type: 'string',
    enum: WRITTEN_TOOLS,
    description: 'write the dataset, or the results of `run_id`, for this tool instead of a package',
  },
  model: {
    type: 'string',
    maxLength: 200,
    description: 'with `format=openai-batch`: the model of the requests',
  },
  allow_incomplete: {
    type: 'boolean',
    default: false,
    description: 'also a run that is not `completed`; a package marks it as `incomplete`',
  },
  include_baseline: {
    type: 'boolean',
    default: false,
    description: 'also the results of the run that the bar of the run compares with, to verify the verdict',
  },
} as const;

const FILE = {
  method: 'get',
  access: 'viewer',
  produces: '*/*',
  streams: 'data',
  responses: {
    200: {
      description: 'a .pkg.zip archive, or the file of the other tool',
      schema: { type: 'string', format: 'binary' },
    },
    304: { description: 'not changed since `If-None-Match`' },
  },
} as const;

export function exportRoute(deps: RouteDeps): Route {
  return {
    ...FILE,
    path: '/datasets/{id}/export',
    operationId: 'exportDataset',
    summary: 'A dataset as a package archive, or for another tool; the same version gives the same package',
    tag: 'datasets',
    query: {
      run_id: {
        type: 'string',
        description:
          'the run to include, with its results; without `version`, the version of the run is exported',
      },
      ...QUERY,
      ...VERSION,
    },
    errors: ['run_not_found', 'run_incomplete', 'item_too_large'],
    handle: async ({ params, query, signal }) =>
      await exportNow(deps, { ...query, dataset_id: params['id'] }, signal),
  };
}

export function runExportRoute(deps: RouteDeps): Route {
  return {
    ...FILE,
    path: '/runs/{id}/export',
    operationId: 'exportRun',
    summary: 'A run as a package archive with its dataset, or for another tool',
    tag: 'runs',
    query: QUERY,
    errors: ['run_incomplete', 'item_too_large'],
    handle: async ({ params, query, signal }) => {
      const { id, datasetId } = await deps.store.runs.get(params['id'] ?? '');
      return await exportNow(deps, { ...query, dataset_id: datasetId, run_id: id }, signal);
    },
  };
}

async function exportNow(
  { logger, store, secrets, version: serviceVersion }: RouteDeps,
  query: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const id = query['dataset_id'] as string;
  const runId = query['run_id'] as string | undefined;
  const version = query['version'] as number | undefined;
  const startedAt = performance.now();
  // A run whose scores have changed gets its numbers and verdict; opening says what is wrong.
  const run = runId === undefined ? undefined : await store.runs.prove(runId, signal).catch(() => undefined);
  const includeBaseline = query['include_baseline'] === true;
  if (includeBaseline && run?.bar != null) {
    // Who may see the run need not see the other one.
    const { baseline } = JSON.parse(run.bar) as { readonly baseline?: string };
    if (baseline !== undefined) await store.runs.get(baseline);
  }
  await using opening = new AsyncDisposableStack();
  const open = opening.use(await store.datasets.open(id, { version, runId, signal }));
  const tool = query['format'] as WrittenTool | undefined;
  const selection = {
    runId,
    allowIncomplete: query['allow_incomplete'] === true,
    includeBaseline,
  };
  const generator = { name: 'svc', version: serviceVersion };
  const model = query['model'] as string | undefined;
  const found =
    tool === undefined
      ? await exportPackage(open, { ...selection, generator, secrets, signal })
      : await exportTool(open, { ...selection, tool, model, secrets });
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
  return downloadResponse({ ...found, bytes: body }, reading);
}

/** The bytes under a hash never change. */
const FOREVER = 'private, max-age=31536000, immutable';

export function assetRoute({ store: { assets, datasets } }: RouteDeps): Route {
  return {
    ...DATASET_READ,
    ...rangedRoute('the bytes'),
    path: '/datasets/{id}/assets/{sha256}',
    operationId: 'getAsset',
    summary:
      'The bytes of an asset. Media types that browsers can show safely are sent inline, others as a download',
    query: VERSION,
    errors: ['not_found', 'range_not_satisfiable', 'asset_missing'],
    handle: async (request) => {
      const { params, query, signal } = request;
      const version = query['version'] as number | undefined;
      const [id, sha256] = [params['id'] ?? '', params['sha256'] ?? ''];
      const asset = await assets.find(id, sha256, { version, signal });
      if (asset === null) {
        await datasets.get(id, { signal });
        throw assetNotFound();
      }
      return rangedResponse(request, {
        byteLength: asset.byteLength,
        etag: `"${sha256}"`,
        headers: { 'Cache-Control': FOREVER, ...SAFE },
        bodyHeaders: mediaHeaders(asset.mimeType, sha256),
        read: (range) => assets.read(sha256, { range, signal }),
      });
    },
  };
}
