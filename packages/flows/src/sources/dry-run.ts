import type { JsonlError } from '@svc/jsonl-v23';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import type { DatasetDraft } from '@svc/store';
import type { SkippedRows } from '@svc/tabular/internal';
import { skippedRows } from './skipped-rows.ts';

/** What a dry run found. */
export interface DryRun {
  readonly itemCount: number;
  /** Of all rows that became items; null where one did not. */
  readonly versionHash: string | null;
  /** The first 100. */
  readonly errors: readonly JsonlError[];
  readonly errorsTotal: number;
  /** Null where the mapping does not skip rows. */
  readonly skipped: SkippedRows | null;
}

/** What the dry run of a draft has found. @param mapping null for items */
export function dryRunResult(mapping: Mapping | null, draft: DatasetDraft): DryRun {
  const { failures } = draft;
  const skipped = mapping === null ? null : skippedRows(mapping, draft);
  const [errors, errorsTotal] = skipped === null ? [failures.first, failures.total] : [[], 0];
  return {
    itemCount: draft.progress.items,
    versionHash: errorsTotal === 0 ? draft.hashes.versionHash : null,
    errors,
    errorsTotal,
    skipped,
  };
}
