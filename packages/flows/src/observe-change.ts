import type { ChangeMode, Logger, Metrics } from '@svc/instrumentation';
import type { ChangedDataset } from '@svc/store';
import { type Observed, placeOf } from './import-failure.ts';

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
