import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LinkedFile } from '@svc/jsonl-v23/internal';
import { readLinkedFiles } from '../assets/linked-files-column.ts';

/** An item as it is stored: canonical texts, null for an absent key (`'null'` for a JSON null). */
export interface ItemRow {
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  /** 32 bytes. */
  readonly itemHash: Uint8Array;
  /** Null where the item is too large, and is not read. */
  readonly payload: string | null;
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
  /** The embedded files that checker and assets lack. */
  readonly linkedFiles: readonly LinkedFile[];
}

/** Signature, flags, length of the header's extension (which servers leave empty). */
const HEADER_BYTES = 11 + 4 + 4;
const FIELDS = 8;

/** A row of this size is joined and decoded in steps, so that other work runs between them. */
const LARGE_ROW_BYTES = 1024 * 1024;

/**
 * Decodes rows of (section order, item order, hash, payload, answer, checker, assets, linked files) in PostgreSQL's binary COPY
 * format. Yields the complete rows of each chunk as one batch; holds one incomplete row.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export async function* decodeRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ItemRow[], void, undefined> {
  const rest = new RowBuffer();
  let neededBytes = HEADER_BYTES;
  let headerIsRead = false;
  for await (const chunk of chunks) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (rest.byteLength > 0 || bytes.length < neededBytes) {
      rest.append(bytes, neededBytes);
      if (rest.byteLength < neededBytes) continue;
      bytes = rest.take();
    }
    let at = 0;
    if (!headerIsRead) {
      at = HEADER_BYTES;
      headerIsRead = true;
    }
    const rows: ItemRow[] = [];
    for (;;) {
      const end = endOfRow(bytes, at);
      if (end.bytes > bytes.length) {
        neededBytes = end.bytes - at;
        break;
      }
      if (end.isLast) {
        at = end.bytes;
        neededBytes = Number.POSITIVE_INFINITY;
        break;
      }
      const isLarge = end.bytes - at > LARGE_ROW_BYTES;
      rows.push(isLarge ? await readLargeRow(bytes, at) : readRow(bytes, at));
      at = end.bytes;
    }
    if (at < bytes.length) rest.append(bytes.subarray(at), neededBytes);
    if (rows.length > 0) yield rows;
  }
}

/** The beginning of a row. Memory for all of it is taken once its length is known. */
class RowBuffer {
  #bytes = Buffer.allocUnsafeSlow(0);
  byteLength = 0;

  /** @param neededBytes of the row, as far as that is known */
  append(chunk: Buffer, neededBytes: number): void {
    const length = this.byteLength + chunk.length;
    if (length > this.#bytes.length) {
      // the chunk that completes the row begins the next one
      const capacity = Number.isFinite(neededBytes) ? Math.max(length, neededBytes + chunk.length) : length;
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.#bytes.copy(larger, 0, 0, this.byteLength);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.byteLength);
    this.byteLength = length;
  }

  /** Gives the bytes away. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.byteLength);
    this.#bytes = Buffer.allocUnsafeSlow(0);
    this.byteLength = 0;
    return bytes;
  }
}

/** Where the row at `at` ends; as far as that is known, when it is not whole. */
function endOfRow(bytes: Buffer, at: number): { bytes: number; isLast: boolean } {
  let position = at + 2;
  if (position > bytes.length) return { bytes: position, isLast: false };
  if (bytes.readInt16BE(at) === -1) return { bytes: position, isLast: true };
  for (let field = 0; field < FIELDS; field += 1) {
    if (position + 4 > bytes.length) return { bytes: position + 4, isLast: false };
    const length = bytes.readInt32BE(position);
    position += 4 + (length === -1 ? 0 : length);
  }
  return { bytes: position, isLast: false };
}

function readRow(bytes: Buffer, at: number): ItemRow {
  const { payload, answer, checker, assets, linkedFiles, ...row } = fieldsOf(bytes, at);
  const text = (field: Buffer | null): string | null => field?.toString('utf8') ?? null;
  return {
    ...row,
    payload: text(payload),
    answer: text(answer),
    checker: text(checker),
    assets: text(assets),
    linkedFiles: readLinkedFiles(text(linkedFiles)),
  };
}

async function readLargeRow(bytes: Buffer, at: number): Promise<ItemRow> {
  const { payload, answer, checker, assets, linkedFiles, ...row } = fieldsOf(bytes, at);
  return {
    ...row,
    payload: await decodeInSteps(payload),
    answer: await decodeInSteps(answer),
    checker: await decodeInSteps(checker),
    assets: await decodeInSteps(assets),
    linkedFiles: readLinkedFiles(await decodeInSteps(linkedFiles)),
  };
}

/** UTF-8 as text; the event loop runs after each megabyte. */
async function decodeInSteps(field: Buffer | null): Promise<string | null> {
  if (field === null) return null;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for (let at = 0; at < field.length; at += LARGE_ROW_BYTES) {
    if (at > 0) await nextTurn();
    text += decoder.decode(field.subarray(at, at + LARGE_ROW_BYTES), { stream: true });
  }
  return text + decoder.decode();
}

function fieldsOf(bytes: Buffer, at: number) {
  let position = at + 2;
  const field = (): Buffer | null => {
    const length = bytes.readInt32BE(position);
    position += 4;
    if (length === -1) return null;
    const value = bytes.subarray(position, position + length);
    position += length;
    return value;
  };
  const sectionOrderIndex = field()?.readInt32BE(0) ?? 0;
  const orderIndex = field()?.readInt32BE(0) ?? 0;
  // a copy: a view would keep the whole chunk alive
  const itemHash = Uint8Array.from(field() ?? []);
  return {
    sectionOrderIndex,
    orderIndex,
    itemHash,
    payload: field(),
    answer: field(),
    checker: field(),
    assets: field(),
    linkedFiles: field(),
  };
}
