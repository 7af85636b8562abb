/** A package on its way to this machine. Disposing ends its source. */
export interface Download extends AsyncDisposable {
  readonly datasetId: string;
  /** proposed by the source, fit to be a file name; null where it proposes none */
  readonly fileName: string | null;
  /** null while it is not known */
  readonly byteLength: number | null;
  /** may be read once */
  readonly body: AsyncIterable<Uint8Array>;
}
