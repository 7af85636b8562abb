import type { ChangeMode, Logger, Metrics } from '@svc/instrumentation';
import { formatLocation, type SourceLocation } from '@svc/jsonl-v23';
import type { ChangedDataset } from '@svc/store';
import type { ImportFailure } from './import-failure.ts';

/** A change of a dataset whose end is to be reported. */
export interface ObservedChange {
  finished(changed: ChangedDataset): void;
  /** @param error logged with its place */
  failed(error: unknown, failure: ImportFailure): void;
}

/** Logs the start of a change, and later its end, with its outcome in the metrics. */
export function observeChange(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Pick<Metrics, 'recordChange'> },
  { datasetId, mode }: { readonly datasetId: string; readonly mode: ChangeMode },
): ObservedChange {
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
      const { location } = error as { location?: SourceLocation };
      const place = location === undefined ? undefined : formatLocation(location) || undefined;
      logger.log('dataset.change.fail', { ...facts, outcome, code, place, ...elapsed() });
    },
  };
}
