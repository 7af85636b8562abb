import type { EventFields } from '@svc/instrumentation';
import type { JsonlError } from '@svc/jsonl-v23';
import { ImportErrors } from '@svc/jsonl-v23/internal';
import type { PackageError } from '@svc/pkg-format';
import type { DatasetDraft, DiffCounts, DraftContent, FaultList, ImportReport } from '@svc/store';

/** An error of one line, row or column. */
export type ImportError = JsonlError | PackageError;

/** Where a dataset comes from: a package, files or the hub. */
export interface ImportSource {
  /** How the import is logged. */
  readonly start: EventFields['dataset.import.start'];
  /**
   * Writes all items, in one pass. Invalid lines and rows go to the report, and the pass continues.
   *
   * @param report of the draft
   * @returns what the dataset is made of besides; null after a fault that ended the pass
   * @throws whatever makes the source unreadable, and what the draft throws
   */
  write(draft: DatasetDraft, report: ImportReport, signal: AbortSignal): Promise<DraftContent | null>;
  /** The error to report for a fault. */
  toError(fault: JsonlError): ImportError;
}

/**
 * Imports a dataset into a draft: source → items → rows of the store. Every way in uses it, within a request or a job.
 *
 * @param report of the draft
 * @returns what the caller commits the draft with
 * @throws ImportError for one invalid line or row, or {@link ImportErrors} for several; what the source and the draft
 *   throw
 */
export async function importDataset(
  source: ImportSource,
  draft: DatasetDraft,
  report: ImportReport,
  signal: AbortSignal,
): Promise<DraftContent> {
  const content = await source.write(draft, report, signal);
  const { total } = report.faults;
  const errors = errorsOf(source, report);
  const [error] = errors;
  if (error !== undefined) throw total === 1 ? error : new ImportErrors(error, errors, total);
  if (content === null) throw new Error('A source that stops early must report a fault.');
  return content;
}

const errorsOf = (source: ImportSource, { faults }: ImportReport): ImportError[] =>
  faults.first.map((fault) => source.toError(fault));

/** What a dry run found. */
export interface DryRun {
  readonly itemCount: number;
  /** Null if there are faults. */
  readonly versionHash: string | null;
  /** As the import reports them: the first hundred. */
  readonly errors: readonly ImportError[];
  readonly errorsTotal: number;
  /** Counts of the change of a dataset; null for a new dataset, and with faults. */
  readonly change: DiffCounts | null;
  /** Null where the mapping does not skip rows. */
  readonly skipped: FaultList | null;
}

/**
 * Does everything that an import does with its commit, and returns the faults.
 *
 * @param draft of a dry run
 * @param report of the draft
 * @throws what the source and the draft throw
 */
export async function dryRun(
  source: ImportSource,
  draft: DatasetDraft,
  report: ImportReport,
  signal: AbortSignal,
): Promise<DryRun> {
  const content = await source.write(draft, report, signal);
  const { faults, skipped } = report;
  const isFaulty = content === null || faults.total > 0;
  const changed = isFaulty ? null : (await draft.commit(content)).changed;
  return {
    itemCount: draft.progress.items,
    versionHash: isFaulty ? null : (changed?.versionHash ?? draft.hashes.versionHash),
    change: changed?.change ?? null,
    errors: errorsOf(source, report),
    errorsTotal: faults.total,
    skipped,
  };
}
