import { formatLocation, type JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import { ImportErrors, promptWarnings, unusedColumnsJson } from '@svc/jsonl-v23/imports';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { PackageError } from '@svc/pkg-format';
import { type RowFacts, type SkippedFiles, skippedFilesJson } from '@svc/tabular/datasets';
import type {
  ChangedDataset,
  DatasetDraft,
  DraftContent,
  ImportReport,
  ImportTarget,
  StoredImport,
} from '../store/index.ts';
import type { Logger } from '../telemetry/create-logger.ts';
import type { Metrics } from '../telemetry/create-metrics.ts';
import type { EventFields, Label } from '../telemetry/events.ts';

export type ImportError = JsonlError | PackageError;

/** Where a dataset comes from: a package, files or the hub. */
export interface ImportSource {
  readonly start: EventFields['dataset.import.start'];
  readonly skippedFiles?: SkippedFiles;
  /** Writes all items, in one pass. Invalid lines and rows go to the report, and the pass continues. */
  write(draft: DatasetDraft, report: ImportReport, signal: AbortSignal): Promise<DraftContent | null>;
  toError(fault: JsonlError): ImportError;
}

/**
 * Imports a dataset into a draft: source → items → rows of the store. Every way in uses it, within a request or a job.
 *
 * @throws ImportError for one invalid line or row, or {@link ImportErrors} for several; what the source and the draft
 * throw
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

export interface ImportNotes {
  readonly warnings: readonly string[];
  readonly unusedColumns: Iterable<string>;
  readonly skippedFiles: SkippedFiles | undefined;
}

export type DryRun = Awaited<ReturnType<typeof dryRun>>;

/** Does everything that an import does with its commit, and returns the faults. */
export async function dryRun(
  source: ImportSource,
  draft: DatasetDraft,
  report: ImportReport,
  signal: AbortSignal,
) {
  const content = await source.write(draft, report, signal);
  const { faults, skipped } = report;
  const isFaulty = content === null || faults.total > 0;
  const stored = isFaulty ? null : await draft.commit(content);
  return {
    /** Of the whole dataset or version; of what was read if there are faults. */
    itemCount: stored?.dataset.itemCount ?? draft.progress.items,
    versionHash: stored?.dataset.versionHash ?? null,
    change: stored?.changed?.change ?? null,
    errors: errorsOf(source, report),
    errorsTotal: faults.total,
    /** Null if the mapping does not skip rows. */
    skipped,
    ...importNotes(source, report),
  };
}

export const importNotes = (
  { skippedFiles }: Pick<ImportSource, 'skippedFiles'>,
  { unaskedCount, unusedColumns }: ImportReport,
): ImportNotes => ({ warnings: promptWarnings(unaskedCount), unusedColumns, skippedFiles });

export function importNotesJson({ warnings, unusedColumns, skippedFiles }: ImportNotes): JsonObject {
  return {
    ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
    ...unusedColumnsJson(unusedColumns),
    ...(skippedFiles === undefined ? {} : skippedFilesJson(skippedFiles)),
  };
}

/**
 * Logs the start of an import, and later its end, with outcome, items, bytes and time in the metrics. An import of a
 * change is logged as a change.
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

export function observeChange(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Pick<Metrics, 'recordChange'> },
  { datasetId, mode }: { readonly datasetId: string; readonly mode: Label<'changeMode'> },
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

export type ImportFailure = ReturnType<typeof requestFailure>;

/** How to report an error of an import within a request; an import whose request has ended is cancelled. */
export function requestFailure(error: unknown, signal: AbortSignal) {
  const { code } = error as { code?: unknown };
  return {
    outcome: signal.aborted ? ('cancelled' as const) : ('failed' as const),
    code: typeof code === 'string' ? code : signal.aborted ? 'aborted' : 'internal',
  };
}

function placeOf(error: unknown): string | undefined {
  const { location } = error as { location?: SourceLocation };
  return location === undefined ? undefined : formatLocation(location) || undefined;
}

export interface Observed<T> {
  finished(done: T): void;
  /** @param error logged with its place */
  failed(error: unknown, failure: ImportFailure): void;
}

/** The rows that an import has left out; null if the mapping does not skip rows. */
export function skippedRows({ skipped }: ImportReport): RowFacts['skipped'] {
  return skipped === null ? null : { count: skipped.total, rows: skipped.first };
}
