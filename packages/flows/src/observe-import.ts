import type { ChangeMode, EventFields, Logger, Metrics } from '@svc/instrumentation';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import type { ChangedDataset, DatasetDraft, ImportTarget, StoredImport } from '@svc/store';

/**
 * Logs the start of an import, and later its end, with outcome, items, bytes and time in the metrics. That of a change is
 * logged as a change.
 *
 * @param draft that the import writes; counted when it ends
 */
export function observeImport(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
  start: EventFields['dataset.import.start'],
  target: ImportTarget,
  draft: Pick<DatasetDraft, 'progress'>,
): Observed<StoredImport> {
  if (target.kind === 'version') {
    const observed = observeChange({ logger, metrics }, target.change);
    return {
      finished: ({ changed }) => changed && observed.finished(changed),
      failed: observed.failed,
    };
  }
  const { source } = start;
  const startedAt = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - startedAt);
  logger.log('dataset.import.start', start);
  return {
    finished({ dataset }) {
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
      metrics.recordImport({ source, outcome, items: rowsRead, bytes, durationMs: elapsedMs() });
      logger.log('dataset.import.fail', {
        source,
        outcome,
        code,
        place: placeOf(error),
        rows_done: rowsRead,
        duration_ms: elapsedMs(),
      });
    },
  };
}

/** Logs the start of a change, and later its end, with its outcome in the metrics. */
export function observeChange(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Pick<Metrics, 'recordChange'> },
  { datasetId, mode }: { readonly datasetId: string; readonly mode: ChangeMode },
): Observed<ChangedDataset> {
  const startedAt = performance.now();
  const facts = { dataset_id: datasetId, mode };
  const elapsed = (): { readonly duration_ms: number } => ({
    duration_ms: Math.round(performance.now() - startedAt),
  });
  logger.log('dataset.change.start', facts);
  return {
    finished({ version, versionHash, isNew, change: { added, changed, removed } }) {
      const outcome = isNew ? 'succeeded' : 'unchanged';
      metrics.recordChange({ mode, outcome });
      const counts = { added, changed, removed };
      const now = { version, version_hash: versionHash };
      logger.log('dataset.change.finish', { ...facts, outcome, ...now, ...counts, ...elapsed() });
    },
    failed(error, { outcome, code }) {
      metrics.recordChange({ mode, outcome });
      logger.log('dataset.change.fail', { ...facts, outcome, code, place: placeOf(error), ...elapsed() });
    },
  };
}

/** How an import ended that has no dataset. */
export interface ImportFailure {
  readonly outcome: 'failed' | 'cancelled';
  /** The stable error code. */
  readonly code: string;
}

/** How to report an error of an import within a request; one whose request has ended is cancelled. */
export function requestFailure(error: unknown, signal: AbortSignal): ImportFailure {
  const { code } = error as { code?: unknown };
  return {
    outcome: signal.aborted ? 'cancelled' : 'failed',
    code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
  };
}

/** Where an error of an import is, for the log. */
export function placeOf(error: unknown): string | undefined {
  const { location } = error as { location?: SourceLocation };
  return location === undefined ? undefined : formatLocation(location) || undefined;
}

/** An import or change whose end is to be reported. */
export interface Observed<T> {
  finished(done: T): void;
  /** @param error logged with its place */
  failed(error: unknown, failure: ImportFailure): void;
}
