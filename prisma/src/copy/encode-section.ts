import { type CellBatch, createBatchCutter, type LineBatch, type SizedBatch } from '@svc/jsonl-v23/internal';
import { encodeWithFiles, type ReadFile } from './encode-with-files.ts';
import type { EncodedRows, EncoderPlan, LineOptions, NeedsFiles } from './encoded-rows.ts';
import { mapOrdered } from './map-ordered.ts';
import type { RowEncoder } from './row-encoder.ts';

/** Rows, and the bytes of the import that they account for. */
export interface EncodedBatch {
  readonly encoded: EncodedRows;
  readonly bytes: number;
}

/**
 * Encodes the lines of a section in order, several batches at once. Items that refer to files get them by `readFile`.
 *
 * @throws JsonlError with the line; what `batches` and `readFile` throw; the signal's reason
 */
export async function* encodeLines(
  encoder: RowEncoder,
  sectionId: string,
  batches: AsyncIterable<LineBatch>,
  options: LineOptions & { readonly readFile?: ReadFile | undefined },
  signal: AbortSignal | undefined,
): AsyncGenerator<EncodedBatch> {
  const { readFile = noFiles, ...lineOptions } = options;
  let nextOrderIndex = 0;
  const results = mapOrdered(batches, encoder.parallelism, async (batch) => {
    const target = { sectionId, firstOrderIndex: nextOrderIndex };
    nextOrderIndex += batch.itemCount;
    const bytes = batch.bytes.byteLength;
    return { target, bytes, result: await encoder.encodeLines(batch, target, lineOptions) };
  });
  for await (const { target, bytes, result } of results) {
    if (!needsFiles(result)) {
      yield { encoded: result, bytes };
      continue;
    }
    let rest = bytes;
    for await (const encoded of encodeWithFiles(encoder, result, target, lineOptions, readFile, signal)) {
      yield { encoded, bytes: rest };
      rest = 0;
    }
  }
}

/**
 * Encodes rows of a dataset in order, several batches at once. A batch ends by what its rows become, whatever the reader
 * took for one: a mapping may make many times as much of them.
 *
 * @throws JsonlError with the row, unless the plan collects failures; what `batches` throws
 */
export async function* encodeCells(
  encoder: RowEncoder,
  sectionId: string,
  batches: AsyncIterable<CellBatch>,
  plan: EncoderPlan,
): AsyncGenerator<EncodedBatch> {
  let nextOrderIndex = 0;
  const encode = (batch: SizedBatch): Promise<EncodedRows> =>
    encoder.encodeCells(batch, plan, { sectionId, firstOrderIndex: nextOrderIndex });
  const sized = cutBatches(batches, plan, encoder.maxBatchBytes);
  if (plan.mapping.invalidRows === 'skip') {
    // Only the encoded batch tells how many of its rows are left.
    for await (const batch of sized) {
      const encoded = await encode(batch);
      nextOrderIndex += encoded.itemCount;
      yield { encoded, bytes: encoded.rows.byteLength };
    }
    return;
  }
  // One batch more: to make its cells takes the calling thread as long as the server takes to store another one.
  const results = mapOrdered(sized, encoder.parallelism + 1, (batch) => {
    const encoding = encode(batch);
    nextOrderIndex += batch.rowCount;
    return encoding;
  });
  for await (const encoded of results) yield { encoded, bytes: encoded.rows.byteLength };
}

async function* cutBatches(
  batches: AsyncIterable<CellBatch>,
  { mapping }: EncoderPlan,
  maxBytes: number,
): AsyncGenerator<SizedBatch> {
  const cutter = createBatchCutter(mapping);
  for await (const batch of batches) yield* cutter.cut(batch, maxBytes);
}

const needsFiles = (result: EncodedRows | NeedsFiles): result is NeedsFiles => 'needsFiles' in result;

function noFiles(): Promise<never> {
  throw new Error('These lines have no files to read.');
}
