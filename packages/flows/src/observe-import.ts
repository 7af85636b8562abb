import type { EventFields, Logger, Metrics } from '@svc/instrumentation';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import type { DatasetDraft, DatasetSummary } from '@svc/store';

/** How an import ended that has no dataset. */
export interface ImportFailure {
  readonly outcome: 'failed' | 'cancelled';
  /** The stable error code. */
  readonly code: string;
}

export interface ObservedImport {
  readonly start: EventFields['dataset.import.start'];
  /** The draft that the import writes; counted when it ends. */
  readonly draft: Pick<DatasetDraft, 'progress'>;
  /** How to report an error; null where the import has not ended and will continue elsewhere. */
  readonly failureOf: (error: unknown) => ImportFailure | null;
}

/**
 * Runs one import, logs its start and its end, and records outcome, items, bytes and time in the metrics. Errors pass
 * unchanged.
 */
export async function observeImport(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  { start, draft, failureOf }: ObservedImport,
  run: () => Promise<DatasetSummary>,
): Promise<DatasetSummary> {
  const { source } = start;
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  logger.log('dataset.import.start', start);
  try {
    const dataset = await run();
    const { items, bytes } = draft.progress;
    metrics.recordImport({ source, outcome: 'succeeded', items, bytes, durationMs: elapsedMs() });
    logger.log('dataset.import.finish', {
      source,
      dataset_id: dataset.id,
      version_hash: dataset.versionHash,
      section_count: dataset.sectionCount,
      item_count: dataset.itemCount,
      asset_count: dataset.assetCount,
      bytes,
      duration_ms: elapsedMs(),
    });
    return dataset;
  } catch (error) {
    const failure = failureOf(error);
    if (failure === null) throw error;
    const { outcome, code } = failure;
    const { rowsRead, bytes } = draft.progress;
    const { location } = error as { location?: SourceLocation };
    metrics.recordImport({ source, outcome, items: rowsRead, bytes, durationMs: elapsedMs() });
    logger.log('dataset.import.fail', {
      source,
      outcome,
      code,
      place: location === undefined ? undefined : formatLocation(location) || undefined,
      rows_done: rowsRead,
      duration_ms: elapsedMs(),
    });
    throw error;
  }
}

/** How to report an error of an import within a request; one whose request has ended is cancelled. */
export function requestFailure(error: unknown, signal: AbortSignal): ImportFailure {
  const { code } = error as { code?: unknown };
  return {
    outcome: signal.aborted ? 'cancelled' : 'failed',
    code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
  };
}
