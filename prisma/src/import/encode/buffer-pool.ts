/** Larger buffers are not kept, so that one long line does not stay in memory. */
const MAX_BUFFER_BYTES = 4 * 1024 * 1024;
/** What the kept buffers may take together: those of the usual batches. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Sizes are rounded up to a multiple of this, so that a buffer fits the next batch too. */
const STEP_BYTES = 64 * 1024;

/**
 * Used buffers, to be used again. Allocating memory outside of the heap for every batch would cost more garbage collection
 * than encoding the batch costs.
 */
export class BufferPool {
  readonly #free: ArrayBuffer[] = [];
  #keptBytes = 0;

  /** A buffer with room for `byteCount` bytes, with arbitrary content. */
  acquire(byteCount: number): Uint8Array<ArrayBuffer> {
    const found = this.#free.findIndex(({ byteLength }) => byteLength >= byteCount);
    const [buffer] = found === -1 ? [] : this.#free.splice(found, 1);
    if (buffer !== undefined) {
      this.#keptBytes -= buffer.byteLength;
      return new Uint8Array(buffer);
    }
    const size = byteCount < STEP_BYTES ? byteCount : Math.ceil(byteCount / STEP_BYTES) * STEP_BYTES;
    return new Uint8Array(Buffer.allocUnsafeSlow(size).buffer);
  }

  /** Takes back a buffer that is no longer used; one for which there is no room is freed immediately. */
  release(buffer: ArrayBuffer): void {
    const { byteLength } = buffer;
    if (byteLength < STEP_BYTES) return;
    if (byteLength > MAX_BUFFER_BYTES || this.#keptBytes + byteLength > MAX_KEPT_BYTES) {
      // Every batch brings a buffer along. Left to the garbage collector, they would make it mark the whole heap again and again.
      freeBuffer(buffer);
      return;
    }
    this.#keptBytes += byteLength;
    this.#free.push(buffer);
  }

  /** Removes and returns all buffers. */
  drain(): ArrayBuffer[] {
    this.#keptBytes = 0;
    return this.#free.splice(0);
  }
}

/** Frees the memory of a buffer immediately, which is empty from then on, instead of at the next garbage collection. */
export function freeBuffer(buffer: ArrayBuffer): void {
  if (!buffer.detached) buffer.transfer(0);
}
