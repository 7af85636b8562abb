import { wordsOf } from '@svc/jsonl-v23/internal';
import { damaged } from '../parquet-error.ts';

/**
 * The texts of a column as offsets into the bytes of a file. An object for each would cost more than its use.
 */
export class StringColumn {
  readonly bytes: Uint8Array;
  /** The same bytes. */
  readonly words: DataView;
  /** Where each text starts; -1 for null. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;

  constructor(bytes: Uint8Array, starts: Int32Array, ends: Int32Array, words: DataView = wordsOf(bytes)) {
    this.bytes = bytes;
    this.words = words;
    this.starts = starts;
    this.ends = ends;
  }

  get length(): number {
    return this.starts.length;
  }

  /** Some of the texts. */
  subarray(from: number, to: number): StringColumn {
    const { bytes, starts, ends, words } = this;
    return new StringColumn(bytes, starts.subarray(from, to), ends.subarray(from, to), words);
  }

  /** The texts at these indexes, which must all exist. */
  pick(indexes: Int32Array): StringColumn {
    const { bytes, starts, ends, length, words } = this;
    const count = indexes.length;
    const picked = new StringColumn(bytes, new Int32Array(count), new Int32Array(count), words);
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
    return new StringColumn(this.bytes, starts, ends, this.words);
  }

  /** Each text by itself. */
  toArray(): Array<Uint8Array | null> {
    return Array.from(this.starts, (start, index) =>
      start === -1 ? null : this.bytes.subarray(start, this.ends[index]),
    );
  }
}
