/**
 * `node bench/pack/write-items.ts <package|gzip> <items> <path>`: writes items of an async generator to a package, or their
 * lines through gzip, and prints the seconds and the most memory that it had.
 */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { ItemInput } from '@svc/jsonl-v23';
import { writePackageFile } from '@svc/pkg-format/node';
import { itemLines } from '../generate.ts';
import { timed } from '../measure.ts';

const [side = '', count = '', path = ''] = process.argv.slice(2);

/** Texts that differ from item to item, made before anything is measured. */
const TEXTS: readonly string[] = [...itemLines(1000)].join('').split('\n').slice(0, -1);

async function* items(): AsyncGenerator<ItemInput> {
  for (let index = 0; index < Number(count); index += 1) {
    const text = TEXTS[(index * 7919) % TEXTS.length] ?? '';
    const at = index % 97;
    yield {
      id: index,
      inputs: { prompt: text.slice(at, at + 330), system_prompt: 'Answer briefly.' },
      answer: text.slice(400 - at, 500 - at),
      meta: { difficulty: index % 10, source: 'generated' },
      tags: ['math', 'words'],
    };
  }
}

/** In pieces as large as those of the package: a piece for each line would be slower than both. */
async function* lines(): AsyncGenerator<string> {
  let waiting = '';
  for await (const item of items()) {
    waiting += `${JSON.stringify(item)}\n`;
    if (waiting.length < 64 * 1024) continue;
    yield waiting;
    waiting = '';
  }
  yield waiting;
}

const { seconds } = await timed(async () => {
  if (side === 'package') {
    await writePackageFile(path, { name: 'Items', sections: [{ name: 'train', items: items() }] });
  } else {
    const chunks = Readable.from(lines(), { objectMode: false });
    await pipeline(chunks, createGzip(), createWriteStream(path));
  }
});
console.log(JSON.stringify({ seconds, peakBytes: process.resourceUsage().maxRSS * 1024 }));
