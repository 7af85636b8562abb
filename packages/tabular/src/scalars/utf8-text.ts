const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Up to this length, a loop takes less time than the decoder. */
const SHORT_BYTES = 24;

/** The text of a range of UTF-8. @throws TypeError if it is not UTF-8 */
export function utf8Text(bytes: Uint8Array, start = 0, end: number = bytes.length): string {
  if (end - start <= SHORT_BYTES) {
    let text = '';
    let at = start;
    for (; at < end && (bytes[at] as number) < 0x80; at += 1)
      text += String.fromCharCode(bytes[at] as number);
    if (at === end) return text;
  }
  return decoder.decode(bytes.subarray(start, end));
}
