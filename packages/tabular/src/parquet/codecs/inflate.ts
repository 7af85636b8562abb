/** Decompresses a page to exactly the given size. */
export type Inflate = (page: Uint8Array, outputLength: number) => Uint8Array | Promise<Uint8Array>;
