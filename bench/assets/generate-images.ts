import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { numbers } from '../generate.ts';

/** Bytes from which images are cut, each at its own position. */
const NOISE_BYTES = 4 * 1024 * 1024;

/** Images that are all different and do not compress: their first bytes are their number, the rest is noise. */
function* images(count: number, byteLength: number): Generator<Buffer> {
  const next = numbers(count);
  const noise = Buffer.alloc(Math.max(NOISE_BYTES, 2 * byteLength));
  for (let at = 0; at < noise.length; at += 4) noise.writeUInt32LE(Math.floor(next() * 2 ** 32), at);
  for (let index = 0; index < count; index += 1) {
    const start = Math.floor(next() * (noise.length - byteLength));
    const image = Buffer.from(noise.subarray(start, start + byteLength));
    image.writeUInt32BE(0x89504e47, 0);
    image.writeUInt32BE(index, 4);
    yield image;
  }
}

const nameOf = (index: number): string => `assets/${index % 100}/${index}.png`;

/** One item for each image. */
function* lines(count: number): Generator<Buffer> {
  for (let index = 0; index < count; index += 1) {
    yield Buffer.from(
      `{"id": ${index}, "inputs": {"prompt": "What does the image show?"}, "assets": {"image": {"path": "${nameOf(index)}"}}}\n`,
    );
  }
}

/** Writes a package of items with an image each. */
export async function writeImagePackage(path: string, count: number, byteLength: number): Promise<void> {
  const zip = new ZipFile();
  zip.addReadStream(Readable.from(lines(count)), 'sections/default.jsonl', { compressionLevel: 6 });
  const found = images(count, byteLength);
  const add = (index: number): void => {
    if (index === count) {
      zip.end();
      return;
    }
    // One after the other, so that only one image is in memory.
    zip.addReadStreamLazy(nameOf(index), { compress: false, size: byteLength }, (give) => {
      const { value } = found.next();
      give(null, Readable.from([value], { objectMode: false }));
      add(index + 1);
    });
  };
  add(0);
  await pipeline(zip.outputStream, createWriteStream(path));
}

/** Rows of one bytea column with the same images, in PostgreSQL's binary COPY format. */
export function* copyOfImages(count: number, byteLength: number): Generator<Buffer> {
  yield Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)]);
  const head = Buffer.alloc(6);
  head.writeInt16BE(1, 0);
  head.writeInt32BE(byteLength, 2);
  for (const image of images(count, byteLength)) yield Buffer.concat([head, image]);
  yield Buffer.from([0xff, 0xff]);
}
