/** A package that is being downloaded. Disposing closes its source. */
export interface Download extends AsyncDisposable {
  readonly datasetId: string;
  /** A safe file name that the source proposes; null if it proposes none. */
  readonly fileName: string | null;
  /** Null if unknown. */
  readonly byteLength: number | null;
  /** Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}
