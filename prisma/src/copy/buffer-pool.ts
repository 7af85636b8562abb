/** Buffers beyond this are not kept: one long line must not stay for ever. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_KEPT = 16;
/** Sizes are rounded up to a multiple of this, so that a buffer fits the next batch too. */
const STEP_BYTES = 64 * 1024;

/**
 * Buffers that have been used and wait to be used again: memory outside of the heap that is made anew for every batch
 * costs more collections of garbage than the work on the batch is worth.
 */
export class BufferPool {
  readonly #spare: ArrayBuffer[] = [];

  /** A buffer with room for `byteCount` bytes, whatever stands in it. */
  take(byteCount: number): Uint8Array<ArrayBuffer> {
    const found = this.#spare.findIndex(({ byteLength }) => byteLength >= byteCount);
    const [buffer] = found === -1 ? [] : this.#spare.splice(found, 1);
    if (buffer !== undefined) return new Uint8Array(buffer);
    const size = byteCount < STEP_BYTES ? byteCount : Math.ceil(byteCount / STEP_BYTES) * STEP_BYTES;
    return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
  }

  /** Takes a buffer that nobody uses any more; one that is too large to be kept is freed at once. */
  give(buffer: ArrayBuffer): void {
    if (buffer.byteLength > MAX_KEPT_BYTES) freeBuffer(buffer);
    if (buffer.byteLength < STEP_BYTES) return;
    if (this.#spare.length < MAX_KEPT) this.#spare.push(buffer);
  }

  /** All of them, to be given elsewhere. */
  takeAll(): ArrayBuffer[] {
    return this.#spare.splice(0);
  }
}

/** Frees the memory of a buffer, which is empty from then on. A collection of garbage may be long in coming. */
export function freeBuffer(buffer: ArrayBuffer): void {
  if (!buffer.detached) buffer.transfer(0);
}
