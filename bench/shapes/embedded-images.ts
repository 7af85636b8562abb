import type { Shape } from './shape.ts';
import { between, dumps, pick } from './text.ts';

const IMAGE_BYTES = 10_000;
const NOISE_BYTES = 1024 * 1024;

let noise = Buffer.alloc(0);

/** An image that differs from every other, and does not compress. */
function image(next: () => number, index: number): string {
  if (noise.length === 0) {
    noise = Buffer.alloc(NOISE_BYTES);
    for (let at = 0; at < NOISE_BYTES; at += 4) noise.writeUInt32LE(Math.floor(next() * 2 ** 32), at);
  }
  const start = between(next, 0, NOISE_BYTES - IMAGE_BYTES);
  const bytes = Buffer.from(noise.subarray(start, start + IMAGE_BYTES));
  bytes.writeUInt32BE(0x89504e47, 0);
  bytes.writeUInt32BE(index, 4);
  return bytes.toString('base64');
}

/** An image of 10 kB in base64 in every item. */
export const EMBEDDED_IMAGES: Shape = {
  name: 'embedded-images',
  lineBytes: 13_500,
  line: (next, index) =>
    dumps({
      id: index,
      inputs: { prompt: 'What does the image show?' },
      answer: pick(next, ['a cat', 'a dog', 'a ship']),
      assets: { image: { mime_type: 'image/png', encoding: 'base64', data: image(next, index) } },
    }),
};
