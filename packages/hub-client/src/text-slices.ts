/**
 * Texts of a column as they stand in a file: positions in the bytes that hold them all. An object for each would cost
 * more than what is done with it.
 */
export class TextSlices {
  readonly bytes: Uint8Array;
  /** Where each text starts; -1 for null. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;

  constructor(bytes: Uint8Array, starts: Int32Array, ends: Int32Array) {
    this.bytes = bytes;
    this.starts = starts;
    this.ends = ends;
  }

  get length(): number {
    return this.starts.length;
  }

  /** Some of the texts. */
  subarray(from: number, to: number): TextSlices {
    return new TextSlices(this.bytes, this.starts.subarray(from, to), this.ends.subarray(from, to));
  }

  /** The texts at these indexes, each of which must be there. */
  pick(indexes: Int32Array): TextSlices {
    const { bytes, starts, ends, length } = this;
    const picked = new TextSlices(bytes, new Int32Array(indexes.length), new Int32Array(indexes.length));
    for (let i = 0; i < indexes.length; i++) {
      const index = indexes[i]!;
      if (index < 0 || index >= length) throw new Error('a value is not in the dictionary');
      picked.starts[i] = starts[index]!;
      picked.ends[i] = ends[index]!;
    }
    return picked;
  }

  /** The texts with nulls between them: one at each place that `present` says. */
  spread(count: number, present: (place: number) => boolean): TextSlices {
    const starts = new Int32Array(count).fill(-1);
    const ends = new Int32Array(count);
    for (let place = 0, next = 0; place < count; place++) {
      if (!present(place)) continue;
      starts[place] = this.starts[next]!;
      ends[place] = this.ends[next++]!;
    }
    return new TextSlices(this.bytes, starts, ends);
  }

  /** Each text by itself. */
  toArray(): Array<Uint8Array | null> {
    return Array.from(this.starts, (start, index) =>
      start === -1 ? null : this.bytes.subarray(start, this.ends[index]),
    );
  }
}

/** Texts with their lengths in front, little-endian (Parquet format, "Plain"). */
export function plainTexts(bytes: Uint8Array, count: number): TextSlices {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  let at = 0;
  for (let index = 0; index < count; index++) {
    if (at + 4 > bytes.length) throw new Error('a value is longer than its page');
    const length = view.getUint32(at, true);
    at += 4;
    if (at + length > bytes.length) throw new Error('a value is longer than its page');
    starts[index] = at;
    at += length;
    ends[index] = at;
  }
  return new TextSlices(bytes, starts, ends);
}

/** Texts one after another, with their lengths apart. */
export function adjacentTexts(bytes: Uint8Array, start: number, lengths: Int32Array): TextSlices {
  const starts = new Int32Array(lengths.length);
  const ends = new Int32Array(lengths.length);
  let at = start;
  for (let index = 0; index < lengths.length; index++) {
    const length = lengths[index]!;
    if (length < 0 || at + length > bytes.length) throw new Error('a value is longer than its page');
    starts[index] = at;
    at += length;
    ends[index] = at;
  }
  return new TextSlices(bytes, starts, ends);
}
