/** What every reading takes. */
export interface SignalOptions {
  /** Aborting it ends the reading with its reason. */
  readonly signal?: AbortSignal | undefined;
}
