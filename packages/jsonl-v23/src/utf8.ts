/**
 * The number of bytes before the first one that breaks UTF-8 (RFC 3629 section 4; Unicode table 3-7): no
 * overlong forms, no surrogates, nothing beyond U+10FFFF. The whole length when all of it is UTF-8.
 */
export function validUtf8Length(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at] as number;
    if (lead < 0x80) {
      at++;
      continue;
    }
    const length =
      lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    if (length === 0 || at + length > bytes.length) return at;
    const second = bytes[at + 1] as number;
    const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (second < lowest || second > highest) return at;
    for (let index = at + 2; index < at + length; index++) {
      if (((bytes[index] as number) & 0xc0) !== 0x80) return at;
    }
    at += length;
  }
  return at;
}
