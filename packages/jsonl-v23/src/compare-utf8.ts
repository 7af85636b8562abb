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
