import type { DatasetSummary } from '@svc/flows';
import { formatPlace, type Place } from '@svc/jsonl-v23';
import type { EventFields, Logger, Metrics } from '@svc/observability';

export type ImportProgress = (done: { readonly items: number; readonly bytes: number }) => void;

/**
 * Runs one import and tells of it: start, finish or failure in the log, and outcome, items, bytes and time in the
 * metrics. The error passes on unchanged.
 */
export async function observeImport(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  start: EventFields['dataset.import.start'],
  signal: AbortSignal,
  run: (onProgress: ImportProgress) => Promise<DatasetSummary>,
): Promise<DatasetSummary> {
  const { source } = start;
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  let done = { items: 0, bytes: 0 };
  logger.log('dataset.import.start', start);
  try {
    const dataset = await run((progress) => {
      done = progress;
    });
    metrics.recordImport({ source, outcome: 'succeeded', ...done, durationMs: elapsedMs() });
    logger.log('dataset.import.finish', {
      source,
      dataset_id: dataset.id,
      version_hash: dataset.versionHash,
      section_count: dataset.sectionCount,
      item_count: dataset.itemCount,
      asset_count: dataset.assetCount,
      bytes: done.bytes,
      duration_ms: elapsedMs(),
    });
    return dataset;
  } catch (error) {
    const outcome = signal.aborted ? 'cancelled' : 'failed';
    const { code, place } = error as { code?: unknown; place?: Place };
    metrics.recordImport({ source, outcome, ...done, durationMs: elapsedMs() });
    logger.log('dataset.import.fail', {
      source,
      outcome,
      code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
      place: place === undefined ? undefined : formatPlace(place) || undefined,
      rows_done: done.items,
      duration_ms: elapsedMs(),
    });
    throw error;
  }
}
