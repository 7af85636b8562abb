import type { PartRanges } from '@svc/jsonl-v23/internal';

/** Bytes of a SHA-256. */
const HASH_BYTES = 32;

/**
 * The fields of one row after another: section order, item order, hash, payload, answer, checker, assets, linked files. A
 * text that is null starts at -1.
 */
export class RowFields implements PartRanges {
  /** The buffer of the rows. */
  bytes: Buffer = Buffer.alloc(0);
  sectionOrderIndex = 0;
  orderIndex = 0;
  hashStart = 0;
  payloadStart = -1;
  payloadEnd = 0;
  answerStart = -1;
  answerEnd = 0;
  checkerStart = -1;
  checkerEnd = 0;
  assetsStart = -1;
  assetsEnd = 0;
  linkedStart = -1;
  linkedEnd = 0;
  #position = 0;

  /** Reads the row at `at`. */
  read(bytes: Buffer, at: number): void {
    this.bytes = bytes;
    this.#position = at + 2;
    this.sectionOrderIndex = bytes.readInt32BE(this.#next());
    this.orderIndex = bytes.readInt32BE(this.#next());
    this.hashStart = this.#next();
    this.payloadStart = this.#next();
    this.payloadEnd = this.#position;
    this.answerStart = this.#next();
    this.answerEnd = this.#position;
    this.checkerStart = this.#next();
    this.checkerEnd = this.#position;
    this.assetsStart = this.#next();
    this.assetsEnd = this.#position;
    this.linkedStart = this.#next();
    this.linkedEnd = this.#position;
  }

  /** A copy: a view would keep the whole chunk alive. */
  get hash(): Uint8Array {
    return Uint8Array.from(this.bytes.subarray(this.hashStart, this.hashStart + HASH_BYTES));
  }

  /** Where the next field starts, -1 for null; `#position` is then where it ends. */
  #next(): number {
    const length = this.bytes.readInt32BE(this.#position);
    const start = this.#position + 4;
    if (length === -1) {
      this.#position = start;
      return -1;
    }
    this.#position = start + length;
    return start;
  }
}
