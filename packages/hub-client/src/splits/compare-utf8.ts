/**
 * Orders texts by code points, as the hub's loader does; JavaScript's own order (UTF-16 code units) puts characters
 * beyond U+FFFF before some that come first.
 */
export function compareUtf8(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

// Surrogates stand for code points above all others.
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x2000 : unit;
}
