import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import type { EventFields, Logger, Metrics } from '@svc/observability';

/** How far an import is. */
export interface ImportProgress {
  readonly items: number;
  readonly bytes: number;
}

/** What is told of a dataset that was imported. */
interface ImportedDataset {
  readonly id: string;
  readonly versionHash: string;
  readonly sectionCount: number;
  readonly itemCount: number;
  readonly assetCount: number;
}

/** How an import ended that has no dataset. */
export interface ImportFailure {
  readonly outcome: 'failed' | 'cancelled';
  /** the stable error code */
  readonly code: string;
}

/**
 * Runs one import and tells of it: start, finish or failure in the log, and outcome, items, bytes and time in the
 * metrics. The error passes on unchanged.
 *
 * @param failureOf what an error stands for; null where the import has not ended and will go on elsewhere
 */
export async function observeImport<T extends ImportedDataset>(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  start: EventFields['dataset.import.start'],
  run: (onProgress: (done: ImportProgress) => void) => Promise<T>,
  failureOf: (error: unknown) => ImportFailure | null,
): Promise<T> {
  const { source } = start;
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  let done: ImportProgress = { items: 0, bytes: 0 };
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
    const failure = failureOf(error);
    if (failure === null) throw error;
    const { outcome, code } = failure;
    const { location } = error as { location?: SourceLocation };
    metrics.recordImport({ source, outcome, ...done, durationMs: elapsedMs() });
    logger.log('dataset.import.fail', {
      source,
      outcome,
      code,
      place: location === undefined ? undefined : formatLocation(location) || undefined,
      rows_done: done.items,
      duration_ms: elapsedMs(),
    });
    throw error;
  }
}
