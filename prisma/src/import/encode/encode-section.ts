import { mapOrdered } from '@svc/concurrency';
import { JsonlError } from '@svc/jsonl-v23';
import { DEFAULT_MAX_DEPTH, type LineBatch } from '@svc/jsonl-v23/internal';
import type { SectionParts } from '../draft-totals.ts';
import { encodeWithFiles, type ItemFileSource } from './encode-with-files.ts';
import {
  countedRows,
  type EncodedRows,
  type LineOptions,
  type MappingPlan,
  type NeedsFiles,
} from './encoded-rows.ts';
import { onlyInPackages } from './only-in-packages.ts';
import type { RowEncoder } from './row-encoder.ts';
import {
  MAX_ROW_FAILURES,
  mergeFailures,
  RowFailureCounter,
  type RowFailures,
  toFailure,
} from './row-failures.ts';
import { rowsToLines, type TableRows } from './rows-to-lines.ts';

/** Rows, and the bytes of the import that they account for. */
export interface EncodedBatch {
  readonly encoded: EncodedRows;
  readonly bytes: number;
}

/** How lines are encoded. */
export interface EncodeLinesOptions extends LineOptions {
  readonly files?: ItemFileSource | undefined;
  /** Whether lines are only checked, and files not read, as after a faulty line. */
  readonly checksOnly: boolean;
}

/**
 * Encodes the lines of a section in order, several batches concurrently. Items that refer to files get them from `files`, up
 * to the first faulty line. Faulty lines and missing files become failures.
 *
 * @throws what `batches` and `files` throw; the signal's reason
 */
export async function* encodeLines(
  encoder: RowEncoder,
  parts: SectionParts,
  batches: AsyncIterable<LineBatch>,
  options: EncodeLinesOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedBatch> {
  const { files, checksOnly, ...lineOptions } = options;
  let isFaulty = checksOnly;
  const results = mapOrdered(batches, encoder.parallelism, async (batch) => {
    const target = parts.place(batch.itemCount);
    parts.add(batch.itemCount);
    const bytes = batch.bytes.byteLength;
    return { target, bytes, result: await encoder.encodeLines(batch, target, lineOptions) };
  });
  for await (const { target, bytes, result } of results) {
    if (!needsFiles(result)) {
      isFaulty ||= result.failures !== null;
      yield { encoded: result, bytes };
      continue;
    }
    const failures = await missingFiles(result, files, lineOptions);
    isFaulty ||= failures !== null;
    if (isFaulty || files === undefined) {
      yield { encoded: countedRows(result.items.length, failures), bytes };
      continue;
    }
    let rest = bytes;
    let itemsLeft = result.items.length;
    try {
      for await (const encoded of encodeWithFiles(encoder, result, target, lineOptions, files, signal)) {
        yield { encoded, bytes: rest };
        rest = 0;
        itemsLeft -= encoded.itemCount;
      }
    } catch (error) {
      // An item that is too large with its files.
      if (!(error instanceof JsonlError)) throw error;
      isFaulty = true;
      const failures = { first: [toFailure(error)], total: 1 };
      yield { encoded: countedRows(itemsLeft - 1, failures), bytes: rest };
    }
  }
}

/**
 * Encodes the items of rows in order, several batches concurrently: as lines, see `rowsToLines`.
 *
 * @throws what `batches` throws; JsonlError for a plan that cannot be
 */
export async function* encodeRows(
  encoder: RowEncoder,
  parts: SectionParts,
  batches: AsyncIterable<TableRows>,
  plan: MappingPlan,
): AsyncGenerator<EncodedBatch> {
  const options = { file: '', maxDepth: DEFAULT_MAX_DEPTH, maxLineBytes: plan.maxItemBytes };
  const lines = rowsToLines(batches, plan, encoder.maxBatchBytes);
  // One batch more: to make its lines takes the calling thread as long as the server takes to store another one.
  const results = mapOrdered(lines, encoder.parallelism + 1, async ({ batch, failures }) => {
    if (batch.itemCount === 0) return countedRows(0, failures);
    const target = parts.place(batch.itemCount);
    parts.add(batch.itemCount);
    const encoded = await encoder.encodeLines(batch, target, options);
    if (needsFiles(encoded) || encoded.failures !== null)
      throw new Error('The line of a mapped item could not be read.');
    return { ...encoded, failures };
  });
  for await (const encoded of results) yield { encoded, bytes: encoded.rows.byteLength };
}

const needsFiles = (result: EncodedRows | NeedsFiles): result is NeedsFiles => 'needsFiles' in result;

/** The failures of a batch, with one for each reference to a file that is missing. */
async function missingFiles(
  { items, failures }: NeedsFiles,
  files: ItemFileSource | undefined,
  { file }: LineOptions,
): Promise<RowFailures | null> {
  const counter = new RowFailureCounter();
  const references = items.flatMap((item) => item.references);
  const problems =
    files === undefined
      ? references.map(({ path, pointer }) => onlyInPackages(path, pointer))
      : await files.problems(references);
  let total = 0;
  let index = 0;
  for (const { line, references } of items) {
    for (const { pointer, link } of references) {
      const problem = problems[index++] ?? null;
      if (problem === null) continue;
      total += 1;
      // To make an error costs more than to count it.
      const isKept = total <= MAX_ROW_FAILURES;
      const path = link === undefined ? pointer : `${pointer}/url`;
      counter.add(isKept ? new JsonlError('missing_file', problem, { file, line, path }) : null);
    }
  }
  return mergeFailures(failures, counter.failures);
}
