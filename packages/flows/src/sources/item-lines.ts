import type { JsonlError } from '@svc/jsonl-v23';
import { type LineBatch, splitLines } from '@svc/jsonl-v23/internal';
import type { DatasetDraft, LineOptions } from '@svc/store';
import { readTextFile } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import { ImportErrors } from '../import-errors.ts';
import type { TableFile } from './recognise.ts';

export interface UploadTableOptions {
  /** Longest canonical text of an item, and longest line of items. */
  readonly maxItemBytes: number;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
}

/** The lines of a file of items, and how they are read. */
export function itemLines(
  { name, source, detected }: TableFile,
  { maxItemBytes: maxLineBytes, maxDepth, signal }: UploadTableOptions,
): [AsyncIterable<LineBatch>, LineOptions] {
  const content = readTextFile(tableSource(name, source), detected, { signal });
  const lines = splitLines(content, { file: name, maxLineBytes, signal });
  return [lines, { file: name, maxDepth, maxLineBytes }];
}

/**
 * Checks every line of files of which one is faulty, so that a person can correct all of them at once.
 *
 * @returns the errors of all faulty lines; `first` if it is the only one
 * @throws the signal's reason
 */
export async function findOtherLines(
  first: JsonlError,
  files: readonly TableFile[],
  draft: DatasetDraft,
  options: UploadTableOptions,
): Promise<JsonlError | ImportErrors> {
  for (const file of files) {
    try {
      await draft.checkLines(...itemLines(file, options));
    } catch {
      options.signal.throwIfAborted();
      // The rest of this file cannot be read.
    }
  }
  const { failures } = draft;
  return failures.total <= 1 ? first : new ImportErrors(first, failures.first, failures.total);
}
