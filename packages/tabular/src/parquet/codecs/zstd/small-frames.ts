import { ZstdInflater } from './inflate-zstd.ts';

const MAGIC = 0xfd2fb528;
/** The lowest four bits are free. */
const SKIPPABLE_MAGIC = 0x184d2a50;
/** Bytes of a frame for which an engine of its own costs more than the frame. */
const MAX_FRAME_BYTES = 4 * 1024;
const MAX_BLOCK_BYTES = 128 * 1024;
/** Bytes that frames may give together. */
const OUTPUT_BYTES = 1024 * 1024;

/**
 * Inflates what begins with small zstd frames: as many as there are whole, end to end. An engine for each of a million would
 * take minutes. Frames with a checksum are left, since it is not compared here.
 */
export class SmallFrames {
  readonly #inflater = new ZstdInflater();
  readonly #output = new Uint8Array(OUTPUT_BYTES);

  /**
   * @returns the bytes of the frames, and where they end in the input; 0 where another frame begins; null for a damaged frame
   */
  take(input: Uint8Array): { readonly end: number; readonly bytes: Uint8Array } | null {
    let end = 0;
    let room = OUTPUT_BYTES;
    for (;;) {
      const frame = smallFrame(input, end);
      if (frame === null || frame.mostBytes > room) break;
      room -= frame.mostBytes;
      end = frame.end;
    }
    if (end === 0) return { end, bytes: new Uint8Array() };
    try {
      const length = this.#inflater.inflate(input.subarray(0, end), this.#output);
      return { end, bytes: this.#output.slice(0, length) };
    } catch (error) {
      if (error instanceof RangeError) return null;
      throw error;
    }
  }
}

/** Where a small frame ends that is there as a whole, and how much it may give; null for anything else. */
function smallFrame(
  input: Uint8Array,
  start: number,
): { readonly end: number; readonly mostBytes: number } | null {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const limit = Math.min(input.byteLength, start + MAX_FRAME_BYTES);
  if (start + 8 > limit) return null;
  const magic = view.getUint32(start, true);
  if ((magic & ~15) >>> 0 === SKIPPABLE_MAGIC) {
    const end = start + 8 + view.getUint32(start + 4, true);
    return end <= limit ? { end, mostBytes: 0 } : null;
  }
  const flags = input[start + 4] as number;
  if (magic !== MAGIC || (flags & 4) !== 0) return null;
  const isSingle = (flags & 32) !== 0;
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6] as number;
  let at = start + 5 + (isSingle ? 0 : 1) + ([0, 1, 2, 4][flags & 3] as number) + sizeBytes;
  let mostBytes = 0;
  for (let isLast = false; !isLast; ) {
    if (at + 3 > limit) return null;
    const header =
      (input[at] as number) | ((input[at + 1] as number) << 8) | ((input[at + 2] as number) << 16);
    isLast = (header & 1) === 1;
    const type = (header >> 1) & 3;
    const size = header >> 3;
    at += 3 + (type === 1 ? 1 : size);
    mostBytes += type === 2 ? MAX_BLOCK_BYTES : size;
    if (at > limit) return null;
  }
  return { end: at, mostBytes };
}
