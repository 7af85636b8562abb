/** Items of one kind, as users have them. */
export interface Shape {
  /** In `--shapes` and in the tables. */
  readonly name: string;
  /** Bytes of a line, roughly. */
  readonly lineBytes: number;
  /**
   * Writes one item as a JSON line without its line feed.
   *
   * @param next a repeatable source of numbers from 0 to 1
   */
  line(next: () => number, index: number): string;
}
