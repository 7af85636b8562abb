/** The levels of the entries of a page, as runs of equal ones. */
export class LevelRuns {
  readonly #first: number;
  /** Level and length of each run, in turn. */
  #runs: number[];

  /** @param first the level that entries usually begin with */
  constructor(first: number) {
    this.#first = first;
    this.#runs = [first, 0];
  }

  /** Bytes of the runs, about. */
  get byteLength(): number {
    return this.#runs.length;
  }

  add(level: number): void {
    const runs = this.#runs;
    if (runs.at(-2) !== level) runs.push(level, 0);
    runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
  }

  reset(): void {
    this.#runs = [this.#first, 0];
  }

  /**
   * The runs in the hybrid encoding, behind their length.
   *
   * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE
   */
  encode(): Buffer {
    const bytes: number[] = [0, 0, 0, 0];
    for (let at = 0; at < this.#runs.length; at += 2) {
      const [level = 0, length = 0] = this.#runs.slice(at, at + 2);
      if (length === 0) continue;
      for (let rest = 2 * length; ; rest >>>= 7) {
        bytes.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
        if (rest <= 0x7f) break;
      }
      bytes.push(level);
    }
    const levels = Buffer.from(bytes);
    levels.writeUInt32LE(levels.byteLength - 4);
    return levels;
  }
}
