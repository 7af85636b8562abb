import type { DatasetDraft, DiffCounts, FaultList, ImportReport } from '@svc/store';
import type { ImportSource } from './import-dataset.ts';
import { changeByDraft, type ImportTarget } from './store-import.ts';

/** What a dry run found. */
export interface DryRun {
  readonly itemCount: number;
  /** Null if there are faults. */
  readonly versionHash: string | null;
  readonly faults: FaultList;
  /** Counts of the change of a dataset; null for a new dataset, and with faults. */
  readonly change: DiffCounts | null;
  /** Null where the mapping does not skip rows. */
  readonly skipped: FaultList | null;
}

/**
 * Does everything that an import does with its commit, and returns the faults.
 *
 * @param target a change needs a draft that stores its rows, which are then rolled back; a new dataset one of a dry run
 * @param report of the draft
 * @throws what the source and the draft throw
 */
export async function dryRun(
  source: ImportSource,
  target: ImportTarget,
  draft: DatasetDraft,
  report: ImportReport,
  signal: AbortSignal,
): Promise<DryRun> {
  const content = await source.write(draft, report, signal);
  const { faults, skipped } = report;
  const isFaulty = content === null || faults.total > 0;
  const changed =
    target.kind === 'version' && !isFaulty
      ? (await changeByDraft(source, draft, content, target, { dryRun: true })).changed
      : null;
  if (target.kind === 'dataset' && !isFaulty) await draft.commit(content);
  return {
    itemCount: draft.progress.items,
    versionHash: isFaulty ? null : (changed?.versionHash ?? draft.hashes.versionHash),
    change: changed?.change ?? null,
    faults,
    skipped,
  };
}
