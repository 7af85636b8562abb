import { parseItem } from '@svc/jsonl-v23';
import type { LineBatch } from '@svc/jsonl-v23/lines';
import { afterAll, describe, expect, it } from 'vitest';
import { linkItem } from '../../assets/link/link-item.ts';
import {
  type EncodedRows,
  type FilledLines,
  type ItemFiles,
  type NeedsFiles,
  type RowTarget,
  RowWriter,
} from './encode-rows.ts';
import { createRowEncoder } from './row-encoder.ts';

const PART_ID = '00112233-4455-6677-8899-aabbccddeeff';
const targetAt = (firstOrdinal: number): RowTarget => ({ partId: PART_ID, firstOrdinal });

const OPTIONS = { file: 'sections/s.jsonl', maxDepth: 256, maxLineBytes: 64 * 1024 * 1024 };

/** A batch that is large enough for a thread, its last line being `last`. */
function batchOf(last: string, number = 0): LineBatch {
  const lines = Array.from({ length: 400 }, (_, index) =>
    JSON.stringify({ id: index, inputs: { prompt: `${number} ${'words '.repeat(40)}` }, answer: index / 7 }),
  );
  const bytes = new TextEncoder().encode([...lines, last].join('\n'));
  return { bytes, firstLine: 1 + number, lineCount: 401, itemCount: 401 };
}

/** Only threads make profiles. */
const show = (encoded: EncodedRows | NeedsFiles): unknown =>
  JSON.stringify({ ...encoded, profiles: [] }, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );

describe('createRowEncoder', () => {
  const inline = createRowEncoder();
  const threaded = createRowEncoder({ threads: 2 });
  afterAll(() => threaded[Symbol.asyncDispose]());

  it('works on threads when it has some', () => {
    expect(inline.parallelism).toBe(1);
    expect(threaded.parallelism).toBeGreaterThan(2);
  });

  it('makes the same rows on threads, in buffers that come back', async () => {
    const batches = (): LineBatch[] =>
      Array.from({ length: 12 }, (_, number) => batchOf('{"é":"\\u00e9"}', number));
    const expected: unknown[] = [];
    for (const batch of batches()) expected.push(show(await inline.encodeLines(batch, targetAt(7), OPTIONS)));
    for (let round = 0; round < 3; round++) {
      const found = await Promise.all(
        batches().map((batch) => threaded.encodeLines(batch, targetAt(7), OPTIONS)),
      );
      expect(found.map(show)).toEqual(expected);
      for (const encoded of found) if ('rows' in encoded) threaded.recycle(encoded);
    }
  });

  it('takes the bytes of a batch over', async () => {
    const batch = batchOf('{}');
    await threaded.encodeLines(batch, targetAt(0), OPTIONS);
    expect(batch.bytes.buffer.byteLength).toBe(0);
  });

  it('gives the bytes back where files are needed, and says which', async () => {
    const last = '{"assets": ["assets/a.png"]}';
    const expected = batchOf(last, 41).bytes;
    for (const encoder of [inline, threaded]) {
      const encoded = await encoder.encodeLines(batchOf(last, 41), targetAt(0), OPTIONS);
      if (!('needsFiles' in encoded)) throw new Error('it needs none');
      expect(encoded.bytes).toEqual(expected);
      expect(encoded.items).toHaveLength(401);
      expect(encoded.items[0]).toMatchObject({ line: 42, start: 0, references: [] });
      const { start, end, ...item } = encoded.items[400] as ItemFiles;
      expect(new TextDecoder().decode(expected.subarray(start, end))).toBe(last);
      const reference = { kind: 'asset', path: 'assets/a.png', pointer: '/assets/0', addedBytes: 54 };
      expect(item).toEqual({ line: 442, itemBytes: 36, references: [reference] });
    }
  });

  it('puts files into items, here and on threads alike', async () => {
    const content = new Uint8Array(300_000).fill(7);
    const line = '{"assets":{"a":"assets/a.png","b":"assets/a.png"}}';
    const lines = (): FilledLines => ({
      batch: {
        bytes: new TextEncoder().encode(`{"id":1}\n\n${line}\n`),
        firstLine: 5,
        lineCount: 3,
        itemCount: 2,
      },
      contents: [[], [content, content]],
      itemBytes: 900_000,
    });
    const rows = new RowWriter(targetAt(3), { items: 2, bytes: 0 });
    rows.addLinked(linkItem(parseItem({ id: 1 })));
    rows.addLinked(linkItem(parseItem(JSON.parse(line)), { contents: [content, content] }));
    const expected = rows.end();
    expect(expected.contents).toHaveLength(1);
    for (const encoder of [inline, threaded]) {
      const encoded = await encoder.encodeFilled(lines(), targetAt(3), OPTIONS);
      expect(show(encoded)).toBe(show(expected));
      expect(encoded.lines).toBeNull();
    }
    expect(content.byteLength).toBe(300_000);
  });

  it('refuses an item whose canonical text is longer than a line may be', async () => {
    const last = `{"id":"x","meta":{"n":[${'1e20,'.repeat(1000)}0]}}`;
    for (const encoder of [inline, threaded]) {
      const options = { ...OPTIONS, maxLineBytes: last.length };
      await expect(encoder.encodeLines(batchOf(last, 41), targetAt(0), options)).resolves.toMatchObject({
        failures: {
          first: [{ code: 'line_too_long', location: { file: OPTIONS.file, line: 442 } }],
          total: 1,
        },
      });
      const { itemCount } = batchOf(last);
      await expect(encoder.encodeLines(batchOf(last), targetAt(0), OPTIONS)).resolves.toMatchObject({
        itemCount,
      });
    }
  });

  it('finds the same faulty lines on a thread, and counts the items', async () => {
    const lines = '{"id":true}\n{"id":1}\n[]';
    const encoded = [inline, threaded].map((encoder) =>
      encoder.encodeLines(batchOf(lines, 41), targetAt(0), OPTIONS),
    );
    const [expected, found] = (await Promise.all(encoded)) as EncodedRows[];
    expect(found?.failures).toEqual(expected?.failures);
    expect(found).toMatchObject({
      itemCount: 401,
      failures: {
        first: [
          { code: 'invalid_item', location: { file: 'sections/s.jsonl', line: 442, path: '/id' } },
          { code: 'not_an_object', location: { line: 444 } },
        ],
        total: 2,
      },
    });
    expect(found?.rows.byteLength).toBe(0);
  });

  it('fails batches in progress when it is disposed, and every later one', async () => {
    const encoder = createRowEncoder({ threads: 1 });
    const underWay = [1, 2, 3].map((number) =>
      encoder.encodeLines(batchOf('{}', number), targetAt(0), OPTIONS),
    );
    const outcomes = Promise.allSettled(underWay);
    await encoder[Symbol.asyncDispose]();
    const closed = expect.objectContaining({ message: 'The threads have been closed.' });
    expect(await outcomes).toContainEqual({ status: 'rejected', reason: closed });
    await expect(encoder.encodeLines(batchOf('{}'), targetAt(0), OPTIONS)).rejects.toEqual(closed);
  });
});
