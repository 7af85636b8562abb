/** Decompresses a page, which has exactly so many bytes then. */
export type Inflate = (page: Uint8Array, outputLength: number) => Uint8Array | Promise<Uint8Array>;
