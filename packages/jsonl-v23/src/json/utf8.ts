/**
 * The number of bytes before the first one that breaks UTF-8 (RFC 3629 section 4; Unicode table 3-7): no
 * overlong forms, no surrogates, nothing beyond U+10FFFF. The whole length when all of it is UTF-8.
 */
export function validUtf8Length(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const next = (bytes[at] as number) < 0x80 ? at + 1 : sequenceEnd(bytes, at);
    if (next === -1) return at;
    at = next;
  }
  return at;
}

/**
 * The position after the character that begins at `start` with a byte of 80 or more (RFC 3629 section 4; Unicode table
 * 3-7); -1 if no valid one does.
 */
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
