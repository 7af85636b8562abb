import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

const WORDS =
  'what is the number of apples that remain when three people share them and each one gives two away before noon while another buys half a dozen more at the market for a friend'.split(
    ' ',
  );

/** A repeatable source of numbers (mulberry32), so that every run works on the same bytes. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Chunks of item lines of about 500 bytes, written as Python's json.dumps would: blanks after `:` and `,`. */
export function* itemLines(count: number): Generator<Buffer> {
  const next = numbers(count);
  const words = (amount: number): string =>
    Array.from({ length: amount }, () => WORDS[Math.floor(next() * WORDS.length)]).join(' ');
  let lines = '';
  for (let index = 0; index < count; index += 1) {
    lines +=
      `{"id": "q${index}", "inputs": {"prompt": "${words(55)}?", "system_prompt": "Answer briefly."}, ` +
      `"answer": "${words(15)}\\n#### ${Math.floor(next() * 1000)}", ` +
      `"meta": {"difficulty": ${(next() * 10).toFixed(3)}, "source": "generated", "row": ${index}}, "tags": ["math", "words"]}\n`;
    if (lines.length > 1 << 20) {
      yield Buffer.from(lines);
      lines = '';
    }
  }
  yield Buffer.from(lines);
}

/** Writes a package of `count` items in one section. */
export async function writePackage(path: string, count: number): Promise<void> {
  const zip = new ZipFile();
  zip.addReadStream(Readable.from(itemLines(count)), 'sections/default.jsonl', { compressionLevel: 6 });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
