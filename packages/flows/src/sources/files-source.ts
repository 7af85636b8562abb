import { JsonlError } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type { DatasetDraft } from '@svc/store';
import { datasetNameOf, fileSchema } from '@svc/tabular/internal';
import { ImportErrors } from '../import-errors.ts';
import type { FileRequest } from '../requests.ts';
import { type DryRun, dryRunResult } from './dry-run.ts';
import type { UploadTableOptions } from './item-lines.ts';
import type { TableFile } from './recognise.ts';
import { skippedRows } from './skipped-rows.ts';
import { writeFiles } from './write-files.ts';

/**
 * Imports files into a draft, each as a section: rows → items by the mapping, or lines that are items already → rows of
 * the store, in one pass. Types of CSV columns come from the first rows; where a later value contradicts them, the import
 * begins again, with types from all rows. The mapping is checked before the first row. Memory is bounded by a batch and a
 * row. The caller commits the draft.
 *
 * @throws UploadError `unsupported_file`; JsonlError with file, line or row, or ImportErrors for several; JsonlError or
 *   ImportErrors `column_not_found`; what the sources and the draft throw
 */
export async function uploadTable(
  files: readonly TableFile[],
  draft: DatasetDraft,
  request: FileRequest,
  options: UploadTableOptions,
): Promise<void> {
  const { mapping, mappingAsSent } = request;
  const skipsInvalid = mapping?.invalidRows === 'skip';
  const features = await writeFiles(files, draft, mapping, { ...options, skipsInvalid }).catch(
    async (error) => {
      throw isRowError(error) && mapping !== null && !skipsInvalid
        ? await findOtherRows(error, files, draft, request, options)
        : error;
    },
  );
  const digests = new Map(request.files.map(({ name, sha256 }) => [name, sha256]));
  const facts = files.map(({ name, source, detected }) => {
    return { name, bytes: source.byteLength, sha256: digests.get(name) ?? null, detected };
  });
  const skipped = mapping === null ? null : skippedRows(mapping, draft);
  await draft.insert({
    name: request.name ?? datasetNameOf(files),
    description: request.description ?? null,
    notes: null,
    source: 'file',
    schema: canonicalJson(fileSchema(facts, { features, mapping: mappingAsSent, skipped })),
  });
}

const isRowError = (error: unknown): error is JsonlError =>
  error instanceof JsonlError &&
  error.code !== 'package_limit' &&
  (error.code === 'invalid_row' || error.location.row !== undefined);

/**
 * Checks every row of files of which one is invalid, so that a person can correct all of them at once.
 *
 * @returns the errors of all invalid rows; `first` if it is the only one
 * @throws the signal's reason
 */
async function findOtherRows(
  first: JsonlError,
  files: readonly TableFile[],
  draft: DatasetDraft,
  request: FileRequest,
  options: UploadTableOptions,
): Promise<JsonlError | ImportErrors> {
  await draft.restart({ dryRun: true });
  try {
    const { errors, errorsTotal } = await dryRunTable(files, draft, request, options);
    return errorsTotal <= 1 ? first : new ImportErrors(first, errors, errorsTotal);
  } catch {
    options.signal.throwIfAborted();
    return first;
  }
}

/** Does everything that an upload of tables does, but stores nothing; continues after rows that it cannot read or convert. */
export async function dryRunTable(
  files: readonly TableFile[],
  draft: DatasetDraft,
  { mapping }: FileRequest,
  options: UploadTableOptions,
): Promise<DryRun> {
  try {
    await writeFiles(files, draft, mapping, { ...options, skipsInvalid: true });
  } catch (error) {
    // Of faulty lines the draft has the list.
    const isListed = mapping === null && draft.failures.total > 0;
    if (!isListed) {
      if (!(error instanceof JsonlError && error.code === 'invalid_row')) throw error;
      // After this row, the file cannot be read.
      draft.addFailure(error);
    }
  }
  return dryRunResult(mapping, draft);
}
