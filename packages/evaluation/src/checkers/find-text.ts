/** The engine searches for a needle up to this length: at worst it compares this often per character. */
const MAX_PLAIN_NEEDLE_CHARS = 16;

/**
 * Makes a search for `needle` in linear time (Knuth, Morris and Pratt). The engine's `indexOf` takes the product of both
 * lengths for a needle such as `a…aba…a`, which is days for two texts of a megabyte.
 *
 * @param needle not empty
 * @returns takes a text and a start index; returns the index of the first occurrence at or after `from`, or -1
 */
export function createTextSearch(needle: string): (text: string, from: number) => number {
  if (needle.length <= MAX_PLAIN_NEEDLE_CHARS) return (text, from) => text.indexOf(needle, from);
  let borders: Int32Array | undefined;
  return (text, from) => {
    if (needle.length > text.length - from) return -1;
    borders ??= bordersOf(needle);
    let matched = 0;
    for (let position = from; position < text.length; position += 1) {
      const code = text.charCodeAt(position);
      while (matched > 0 && needle.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
      if (needle.charCodeAt(matched) === code) matched += 1;
      if (matched === needle.length) return position - matched + 1;
    }
    return -1;
  };
}

/** For each prefix of the needle, the length of its longest proper prefix that is also a suffix. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let position = 1; position < needle.length; position += 1) {
    const code = needle.charCodeAt(position);
    while (length > 0 && needle.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (needle.charCodeAt(length) === code) length += 1;
    borders[position] = length;
  }
  return borders;
}
