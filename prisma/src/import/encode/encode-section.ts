import { mapOrdered } from '@svc/concurrency';
import { JsonlError } from '@svc/jsonl-v23';
import { type CellBatch, createBatchCutter, type LineBatch, type SizedBatch } from '@svc/jsonl-v23/internal';
import type { SectionParts } from '../draft-totals.ts';
import { encodeWithFiles, type ReadFile } from './encode-with-files.ts';
import {
  countedRows,
  type EncodedRows,
  type LineOptions,
  type MappingPlan,
  type NeedsFiles,
} from './encoded-rows.ts';
import { missingFile } from './missing-file.ts';
import type { RowEncoder } from './row-encoder.ts';
import { RowFailureCounter, toFailure } from './row-failures.ts';

/** Rows, and the bytes of the import that they account for. */
export interface EncodedBatch {
  readonly encoded: EncodedRows;
  readonly bytes: number;
}

/** How lines are encoded. */
export interface EncodeLinesOptions extends LineOptions {
  readonly readFile?: ReadFile | undefined;
  /** Whether lines are only checked, and files not read, as after a faulty line. */
  readonly checksOnly: boolean;
}

/**
 * Encodes the lines of a section in order, several batches concurrently. Items that refer to files get them by `readFile`, up to
 * the first faulty line; without it, such items are faulty. Faulty lines become failures.
 *
 * @throws what `batches` and `readFile` throw; the signal's reason
 */
export async function* encodeLines(
  encoder: RowEncoder,
  parts: SectionParts,
  batches: AsyncIterable<LineBatch>,
  options: EncodeLinesOptions,
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedBatch> {
  const { readFile, checksOnly, ...lineOptions } = options;
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
    if (readFile === undefined) {
      isFaulty = true;
      yield { encoded: withoutFiles(result, lineOptions), bytes };
      continue;
    }
    if (isFaulty) {
      yield { encoded: countedRows(result.items.length, null), bytes };
      continue;
    }
    let rest = bytes;
    let itemsLeft = result.items.length;
    try {
      for await (const encoded of encodeWithFiles(encoder, result, target, lineOptions, readFile, signal)) {
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
 * Encodes rows of a dataset in order, several batches concurrently. Invalid rows become failures. A batch ends by what
 * its rows become, whatever the reader took for one: a mapping may make many times as much of them.
 *
 * @throws what `batches` throws
 */
export async function* encodeCells(
  encoder: RowEncoder,
  parts: SectionParts,
  batches: AsyncIterable<CellBatch>,
  plan: MappingPlan,
): AsyncGenerator<EncodedBatch> {
  const encode = (batch: SizedBatch): Promise<EncodedRows> =>
    encoder.encodeCells(batch, plan, parts.place(batch.rowCount));
  const sized = cutBatches(batches, plan, encoder.maxBatchBytes);
  if (plan.mapping.invalidRows === 'skip') {
    // Only the encoded batch tells how many of its rows are left.
    for await (const batch of sized) {
      const encoded = await encode(batch);
      parts.add(encoded.itemCount);
      yield { encoded, bytes: encoded.rows.byteLength };
    }
    return;
  }
  // One batch more: to make its cells takes the calling thread as long as the server takes to store another one.
  const results = mapOrdered(sized, encoder.parallelism + 1, (batch) => {
    const encoding = encode(batch);
    parts.add(batch.rowCount);
    return encoding;
  });
  for await (const encoded of results) yield { encoded, bytes: encoded.rows.byteLength };
}

async function* cutBatches(
  batches: AsyncIterable<CellBatch>,
  { mapping }: MappingPlan,
  maxBytes: number,
): AsyncGenerator<SizedBatch> {
  const cutter = createBatchCutter(mapping);
  for await (const batch of batches) yield* cutter.cut(batch, maxBytes);
}

const needsFiles = (result: EncodedRows | NeedsFiles): result is NeedsFiles => 'needsFiles' in result;

/** Items of which some refer to files that did not come with them. */
function withoutFiles({ items }: NeedsFiles, { file }: LineOptions): EncodedRows {
  const counter = new RowFailureCounter();
  for (const { line, references } of items) {
    const [first] = references;
    if (first !== undefined) counter.add(missingFile(first, { file, line }));
  }
  const failed = counter.failures?.total ?? 0;
  return countedRows(items.length - failed, counter.failures);
}
