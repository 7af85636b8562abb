import { damaged } from '../parquet-error.ts';

/**
 * The texts of a column as offsets into the bytes of a file. An object for each would cost more than its use.
 */
export class StringColumn {
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
  subarray(from: number, to: number): StringColumn {
    return new StringColumn(this.bytes, this.starts.subarray(from, to), this.ends.subarray(from, to));
  }

  /** The texts at these indexes, each of which must be there. */
  pick(indexes: Int32Array): StringColumn {
    const { bytes, starts, ends, length } = this;
    const picked = new StringColumn(bytes, new Int32Array(indexes.length), new Int32Array(indexes.length));
    for (let i = 0; i < indexes.length; i += 1) {
      const index = indexes[i] as number;
      if (index < 0 || index >= length) throw damaged('a value is not in its dictionary');
      picked.starts[i] = starts[index] as number;
      picked.ends[i] = ends[index] as number;
    }
    return picked;
  }

  /** The texts with nulls between them: one at each place that `present` says. */
  spread(count: number, present: (location: number) => boolean): StringColumn {
    const starts = new Int32Array(count).fill(-1);
    const ends = new Int32Array(count);
    for (let location = 0, next = 0; location < count; location += 1) {
      if (!present(location)) continue;
      starts[location] = this.starts[next] as number;
      ends[location] = this.ends[next++] as number;
    }
    return new StringColumn(this.bytes, starts, ends);
  }

  /** Each text by itself. */
  toArray(): Array<Uint8Array | null> {
    return Array.from(this.starts, (start, index) =>
      start === -1 ? null : this.bytes.subarray(start, this.ends[index]),
    );
  }
}
