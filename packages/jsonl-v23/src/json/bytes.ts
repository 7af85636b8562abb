/** In an own `ArrayBuffer`, as `Blob` takes them; before TypeScript 5.7, `Uint8Array` had no parameter for it. */
export type OwnBytes = ReturnType<typeof Uint8Array.of>;

export function joinBytes(chunks: readonly Uint8Array[]): OwnBytes {
  const joined = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

/** Compares by UTF-8 bytes; JavaScript's own order is by UTF-16 units, which puts U+1F600 before U+FF5E. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates encode code points above all other units.
    const xHigh = x >= 0xd800 && x < 0xe000;
    const yHigh = y >= 0xd800 && y < 0xe000;
    return xHigh === yHigh ? x - y : xHigh ? 1 : -1;
  }
  return a.length - b.length;
}

/** How many bytes precede the first that breaks UTF-8 (RFC 3629 section 4; Unicode table 3-7); all if none does. */
export function validUtf8Length(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const next = (bytes[at] as number) < 0x80 ? at + 1 : sequenceEnd(bytes, at);
    if (next === -1) return at;
    at = next;
  }
  return at;
}

/** The position after the character at `start`, not ASCII (RFC 3629 section 4; Unicode table 3-7); -1 if invalid. */
function sequenceEnd(bytes: Uint8Array, start: number): number {
  const lead = bytes[start] as number;
  const second = bytes[start + 1] as number;
  if (lead < 0xe0) return lead >= 0xc2 && isContinuation(second) ? start + 2 : -1;
  if (!isContinuation(second) || !isContinuation(bytes[start + 2] as number)) return -1;
  if (lead < 0xf0) {
    // No overlong form, no surrogate.
    return (lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f) ? -1 : start + 3;
  }
  if (lead > 0xf4 || !isContinuation(bytes[start + 3] as number)) return -1;
  return (lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f) ? -1 : start + 4;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

export function countLineFeeds(content: string | Uint8Array): number {
  const next = (from: number): number =>
    typeof content === 'string' ? content.indexOf('\n', from) : content.indexOf(LINE_FEED, from);
  let count = 0;
  for (let at = next(0); at !== -1; at = next(at + 1)) count += 1;
  return count;
}

const LINE_FEED = 10;

/** Detaches the old buffer, which frees its memory at once: garbage collection may be far away. Node 20 copies. */
export function transferBuffer(buffer: ArrayBuffer, byteLength: number): ArrayBuffer {
  const { transfer } = buffer as { transfer?: (this: ArrayBuffer, byteLength: number) => ArrayBuffer };
  if (transfer !== undefined) return transfer.call(buffer, byteLength);
  const moved = new ArrayBuffer(byteLength);
  new Uint8Array(moved).set(new Uint8Array(buffer, 0, Math.min(byteLength, buffer.byteLength)));
  return moved;
}

const LARGE_BUFFER_BYTES = 8 * 1024 * 1024;

/**
 * The size to which a full buffer grows: twice its own, up to `longest`. A large buffer grows to `longest` in one step,
 * because each step holds the content twice, and the system only provides memory that is written to.
 */
export function grownSize(byteLength: number, longest: number): number {
  const doubled = 2 * byteLength;
  return doubled > LARGE_BUFFER_BYTES ? longest : Math.min(doubled, longest);
}

const [ENCODER, DECODER] = [new TextEncoder(), new TextDecoder('utf-8', { ignoreBOM: true })];

/** A copy of a text: a text that was cut out of a longer one keeps all of it in memory. */
export function ownText(text: string): string {
  return text.isWellFormed() ? DECODER.decode(ENCODER.encode(text)) : text;
}
