import type { EventFields, Logger, Metrics } from '@svc/instrumentation';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import type { DatasetDraft, DatasetSummary } from '@svc/store';

/** How an import ended that has no dataset. */
export interface ImportFailure {
  readonly outcome: 'failed' | 'cancelled';
  /** The stable error code. */
  readonly code: string;
}

/** An import whose end is to be reported. */
export interface ObservedImport {
  finished(dataset: DatasetSummary): void;
  /** @param error logged with its place */
  failed(error: unknown, failure: ImportFailure): void;
}

/**
 * Logs the start of an import, and later its end, with outcome, items, bytes and time in the metrics.
 *
 * @param draft that the import writes; counted when it ends
 */
export function observeImport(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  start: EventFields['dataset.import.start'],
  draft: Pick<DatasetDraft, 'progress'>,
): ObservedImport {
  const { source } = start;
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  logger.log('dataset.import.start', start);
  return {
    finished(dataset) {
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
    },
    failed(error, { outcome, code }) {
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
    },
  };
}

/** How to report an error of an import within a request; one whose request has ended is cancelled. */
export function requestFailure(error: unknown, signal: AbortSignal): ImportFailure {
  const { code } = error as { code?: unknown };
  return {
    outcome: signal.aborted ? 'cancelled' : 'failed',
    code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
  };
}
