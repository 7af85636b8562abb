import { JsonlError } from '@svc/jsonl-v23';
import {
  checkItemSize,
  createLineEncoder,
  type EncodedLine,
  itemSize,
  type LineBatch,
  parseLines,
} from '@svc/jsonl-v23/internal';
import { createHashStates } from '../../assets/link/hash-item.ts';
import { linkItem } from '../../assets/link/link-item.ts';
import type { Profiler } from '../../hub-files/profile.ts';
import { type BufferPool, type RowTarget, RowWriter } from './encode-rows.ts';
import {
  countedRows,
  type EncodedRows,
  type FilledLines,
  type ItemFiles,
  type LineOptions,
  type NeedsFiles,
} from './encoded-rows.ts';
import { RowFailureCounter } from './row-failures.ts';

/** Encodes batches. The result depends on the arguments alone, so it may run on any thread. */
export interface BatchEncoder {
  /**
   * Parses, validates, canonicalises, hashes and encodes lines. Of a batch with faulty lines it returns the failures, one for
   * each of them, and the files that the others need. Failures are the errors of `parseLines`, and `line_too_long` for an
   * item whose canonical text is longer than a line may be.
   */
  encodeLines(batch: LineBatch, target: RowTarget, options: LineOptions): EncodedRows | NeedsFiles;
  /** Does the same for lines whose files have been read and counted. */
  encodeFilled(lines: FilledLines, target: RowTarget, options: LineOptions): EncodedRows;
}

/** Makes an encoder. @param pool buffers for the results @param profiler to profile the items too */
export function createBatchEncoder(pool: BufferPool, profiler: Profiler | null = null): BatchEncoder {
  const lineEncoder = createLineEncoder({ keepsItems: true });
  const states = createHashStates();

  /** Every item of a batch, with the files that it refers to. */
  function itemFiles(batch: LineBatch, options: LineOptions): NeedsFiles['items'] {
    return Array.from(lineEncoder.encode(batch, options), (line) => {
      const { line: number, lineStart: start, lineEnd: end, references } = line;
      const itemBytes = lengthOf(line);
      checkLine(itemBytes, number, options);
      return { line: number, start, end, itemBytes, references };
    });
  }

  function encodeItems(batch: LineBatch, target: RowTarget, options: LineOptions): EncodedRows | NeedsFiles {
    const { bytes, itemCount } = batch;
    const rows = new RowWriter(target, { items: itemCount, bytes: bytes.byteLength }, { pool, profiler });
    for (const line of lineEncoder.encode(batch, options)) {
      if (line.needsFiles) {
        return { needsFiles: true, bytes, items: itemFiles(batch, options), failures: null };
      }
      if (line.item === null) {
        checkLine(lengthOf(line), line.line, options);
        rows.add(line);
      } else {
        const item = linkItem(line.item);
        checkLine(item.byteLength, line.line, options);
        rows.addLinked(item);
      }
    }
    return rows.end();
  }

  /** A batch with a faulty line, each of whose lines is checked. Files are not read. */
  function checkLines(batch: LineBatch, options: LineOptions): EncodedRows | NeedsFiles {
    const counter = new RowFailureCounter();
    const items: ItemFiles[] = [];
    for (const single of singleLines(batch)) counter.run(() => items.push(...itemFiles(single, options)));
    const { failures } = counter;
    const needsFiles = items.some(({ references }) => references.length > 0);
    return needsFiles
      ? { needsFiles, bytes: batch.bytes, items, failures }
      : countedRows(items.length, failures);
  }

  return {
    encodeLines(batch, target, options) {
      try {
        return encodeItems(batch, target, options);
      } catch (error) {
        // The first faulty line ends the encoding of a batch.
        if (!(error instanceof JsonlError)) throw error;
        return checkLines(batch, options);
      }
    },
    encodeFilled({ batch, contents }, target, options) {
      const expected = { items: batch.itemCount, bytes: batch.bytes.byteLength };
      const rows = new RowWriter(target, expected, { pool, profiler, keepsLines: false });
      for (const [index, { item }] of parseLines(batch, options).entries()) {
        rows.addLinked(linkItem(item, { contents: contents[index] ?? [], origins: options.origins }, states));
      }
      return rows.end();
    },
  };
}

/** Bytes of the canonical text of an item; of one that refers to files, without them. */
const lengthOf = ({ item, itemStart, itemEnd }: EncodedLine): number => {
  if (item === null) return itemEnd - itemStart;
  const { textBytes, base64Bytes } = itemSize(item);
  return textBytes + base64Bytes;
};

const LINE_FEED = 10;

/** The lines of a batch, each as a batch. */
function* singleLines({ bytes, firstLine }: LineBatch): Generator<LineBatch> {
  let line = firstLine;
  for (let start = 0; start < bytes.length; line++) {
    const lineFeed = bytes.indexOf(LINE_FEED, start);
    const end = lineFeed === -1 ? bytes.length : lineFeed + 1;
    yield { bytes: bytes.subarray(start, end), firstLine: line, lineCount: 1, itemCount: 1 };
    start = end;
  }
}

/** A line within the limit may have a canonical text beyond it: `1e20` becomes 21 digits. */
function checkLine(itemBytes: number, line: number, { file, maxLineBytes }: LineOptions): void {
  if (itemBytes <= maxLineBytes) return;
  checkItemSize(itemBytes, 0, { maxItemBytes: maxLineBytes, location: { file, line } });
}
