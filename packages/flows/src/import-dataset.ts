import type { EventFields } from '@svc/instrumentation';
import type { JsonlError } from '@svc/jsonl-v23';
import { ImportErrors } from '@svc/jsonl-v23/internal';
import type { PackageError } from '@svc/pkg-format';
import type { DatasetDraft, DatasetMeta, FaultList } from '@svc/store';

/** An error of one line, row or column. */
export type ImportError = JsonlError | PackageError;

/** Where a dataset comes from: a package, files or the hub. */
export interface ImportSource {
  /** How the import is logged. */
  readonly start: EventFields['dataset.import.start'];
  /**
   * Writes all items, in one pass. Lines and rows that are no items become faults of the draft, and the pass goes on.
   *
   * @returns null after a fault that ended the pass
   * @throws whatever makes the source unreadable, and what the draft throws
   */
  write(draft: DatasetDraft, signal: AbortSignal): Promise<WrittenItems | null>;
  /** The error to report for a fault. */
  toError(fault: JsonlError): ImportError;
}

/** What a source says of the items that it has written. */
export interface WrittenItems {
  readonly dataset: DatasetMeta;
  /** Writes what belongs to the inserted dataset, such as its run, and checks what the source states of it. */
  complete?(): Promise<void>;
}

/**
 * Imports a dataset into a draft: source → items → rows of the store → dataset. Every way in uses it, within a request or
 * a job. The caller commits the draft.
 *
 * @throws ImportError for the one fault of the source, or {@link ImportErrors} for several; what the source and the draft
 *   throw
 */
export async function importDataset(
  source: ImportSource,
  draft: DatasetDraft,
  signal: AbortSignal,
): Promise<void> {
  await writeDataset(source, draft, signal);
  const { first, total } = draft.faults;
  if (total === 0) return;
  const errors = first.map((fault) => source.toError(fault));
  const [error] = errors as [ImportError];
  throw total === 1 ? error : new ImportErrors(error, errors, total);
}

/** What a dry run found. */
export interface DryRun {
  readonly itemCount: number;
  /** Null if there are faults. */
  readonly versionHash: string | null;
  readonly faults: FaultList;
  /** Null where the mapping does not skip rows. */
  readonly skipped: FaultList | null;
}

/**
 * Does everything that {@link importDataset} does, and returns the faults.
 *
 * @param draft of a dry run
 * @throws what the source and the draft throw
 */
export async function dryRun(
  source: ImportSource,
  draft: DatasetDraft,
  signal: AbortSignal,
): Promise<DryRun> {
  await writeDataset(source, draft, signal);
  const { faults, skipped, hashes, progress } = draft;
  return {
    itemCount: progress.items,
    versionHash: faults.total === 0 ? hashes.versionHash : null,
    faults,
    skipped,
  };
}

/** Faults of the source are those of the draft. */
async function writeDataset(source: ImportSource, draft: DatasetDraft, signal: AbortSignal): Promise<void> {
  const written = await source.write(draft, signal);
  if (written === null || draft.faults.total > 0) return;
  await draft.insert(written.dataset);
  await written.complete?.();
}
