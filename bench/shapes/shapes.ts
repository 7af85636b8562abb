import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { numbers } from '../generate.ts';
import { CODE } from './code.ts';
import { CONVERSATIONS } from './conversations.ts';
import { DEEP_META } from './deep-meta.ts';
import { EMBEDDED_IMAGES } from './embedded-images.ts';
import { FOUR_SCRIPTS } from './four-scripts.ts';
import { LONG_DOCUMENTS } from './long-documents.ts';
import { MAPS_BY_KEY } from './maps-by-key.ts';
import { MULTIPLE_CHOICE } from './multiple-choice.ts';
import { NESTED_MAPS } from './nested-maps.ts';
import { NUMBERS } from './numbers.ts';
import { RANDOM_KEY_ORDER } from './random-key-order.ts';
import type { Shape } from './shape.ts';
import { SHORT_QUESTIONS } from './short-questions.ts';

/** Data as varied as users are. */
const SHAPES: readonly Shape[] = [
  SHORT_QUESTIONS,
  MULTIPLE_CHOICE,
  CONVERSATIONS,
  CODE,
  LONG_DOCUMENTS,
  NUMBERS,
  DEEP_META,
  FOUR_SCRIPTS,
  EMBEDDED_IMAGES,
  RANDOM_KEY_ORDER,
  MAPS_BY_KEY,
  NESTED_MAPS,
];

const CHUNK_CHARACTERS = 1 << 18;

/** The shapes of these names, separated by commas; all of them for `all`. @throws RangeError for another name */
export function shapesNamed(names: string): readonly Shape[] {
  if (names === 'all') return SHAPES;
  return names.split(',').map((name) => {
    const found = SHAPES.find((shape) => shape.name === name);
    if (found === undefined) {
      const known = SHAPES.map((shape) => shape.name).join(', ');
      throw new RangeError(`--shapes must be "all" or some of ${known}, got ${JSON.stringify(name)}.`);
    }
    return found;
  });
}

/** What bounds the items of a shape, and with them the disk and the time that they take. */
export interface CountLimits {
  /** The largest number of items that is measured. */
  readonly maxItems: number;
  /** Largest total size of the lines of this many items, in bytes. */
  readonly maxBytes: number;
}

/**
 * As many items as wanted, unless the largest number of them would have too many bytes: then all numbers of the shape are
 * smaller by the same factor, so that they can still be compared.
 */
export function countOf({ lineBytes }: Shape, wanted: number, { maxItems, maxBytes }: CountLimits): number {
  const share = Math.min(1, maxBytes / (lineBytes * Math.max(maxItems, wanted)));
  return Math.max(1, Math.floor(wanted * share));
}

/** Chunks of whole lines; the same ones each time. */
export function* shapeLines(shape: Shape, count: number): Generator<Buffer> {
  const next = numbers(count);
  let lines = '';
  for (let index = 0; index < count; index += 1) {
    lines += `${shape.line(next, index)}\n`;
    if (lines.length <= CHUNK_CHARACTERS) continue;
    yield Buffer.from(lines);
    lines = '';
  }
  yield Buffer.from(lines);
}

/** Writes a package of items of a shape in one section. */
export async function writeShape(path: string, shape: Shape, count: number): Promise<void> {
  const zip = new ZipFile();
  const lines = Readable.from(shapeLines(shape, count));
  zip.addReadStream(lines, 'sections/default.jsonl', { compressionLevel: 6 });
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
}
