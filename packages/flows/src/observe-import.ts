import type { EventFields, Logger, Metrics } from '@svc/instrumentation';
import type { DatasetDraft } from '@svc/store';
import { type Observed, placeOf } from './import-failure.ts';
import { observeChange } from './observe-change.ts';
import type { ImportTarget, StoredImport } from './store-import.ts';

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
