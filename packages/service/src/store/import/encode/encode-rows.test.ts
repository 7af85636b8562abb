import type { EncodedItemBytes } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkItem } from '../../assets/link/link-item.ts';
import { writeLinkedFiles } from '../../assets/linked-files-column.ts';
import { COPY_HEADER, COPY_TRAILER, cutRows } from '../../database/copy-format.ts';
import { decodeRows, type ItemRow } from '../../items/decode-rows.ts';
import { BufferPool, type EncodedRows, RowWriter } from './encode-rows.ts';

const PART_ID = '00112233-4455-6677-8899-aabbccddeeff';
const HASH = new Uint8Array(32).fill(7);

interface Texts {
  readonly type?: string;
  readonly payload?: string;
  readonly answer?: string;
  readonly checker?: string;
  readonly assets?: string;
}

/** An encoded item whose whole is `whole`, and whose parts are what they are said to be. */
function item({ type, payload = '{}', answer, checker, assets }: Texts = {}, whole = '{}'): EncodedItemBytes {
  const parts: Buffer[] = [];
  let length = 0;
  const put = (text: string | undefined): [number, number] => {
    if (text === undefined) return [-1, -1];
    const bytes = Buffer.from(text);
    parts.push(bytes);
    length += bytes.length;
    return [length - bytes.length, length];
  };
  const [itemStart, itemEnd] = put(whole);
  const [typeStart, typeEnd] = put(type);
  const [payloadStart, payloadEnd] = put(payload);
  const [answerStart, answerEnd] = put(answer);
  const [checkerStart, checkerEnd] = put(checker);
  const [assetsStart, assetsEnd] = put(assets);
  return {
    ...{ itemStart, itemEnd, typeStart, typeEnd, payloadStart, payloadEnd, answerStart, answerEnd },
    ...{ checkerStart, checkerEnd, assetsStart, assetsEnd },
    bytes: Buffer.concat(parts),
    itemHash: HASH,
    assetCount: assets === undefined ? 0 : 2,
  };
}

function write(
  items: readonly EncodedItemBytes[],
  firstOrdinal = 0,
  expected: { items: number; bytes: number } = { items: items.length, bytes: 100 },
): EncodedRows {
  const writer = new RowWriter({ partId: PART_ID, firstOrdinal }, expected);
  for (const one of items) writer.add(one);
  return writer.end();
}

describe('RowWriter', () => {
  it('writes a row as PostgreSQL documents it', () => {
    const { rows } = write([item({ payload: '{"a":"é"}', answer: '1' })], 258);
    const expected = [
      '000c', // fields
      '00000010 00112233445566778899aabbccddeeff',
      '00000004 00000102',
      '00000004 0000000b', // bytes of the texts
      `00000020 ${'07'.repeat(32)}`,
      `00000008 ${Buffer.from('freeform').toString('hex')}`,
      `0000000a ${Buffer.from('{"a":"é"}').toString('hex')}`,
      '00000001 31',
      'ffffffff',
      'ffffffff',
      'ffffffff ffffffff', // linked files, and their bytes
      'ffffffff', // id
    ];
    expect(Buffer.from(rows).toString('hex')).toBe(expected.join('').replaceAll(' ', ''));
  });

  it('writes the type, the checker and the assets that an item has', () => {
    const { rows, assetCount } = write([item({ type: 'code', checker: '"c"', assets: '[]' })]);
    const fields = Buffer.from(rows).subarray(2 + 20 + 8 + 8 + 36);
    expect(fields.toString('latin1')).toBe(
      '\0\0\0\x04code\0\0\0\x02{}\xff\xff\xff\xff\0\0\0\x03"c"\0\0\0\x02[]\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff',
    );
    expect(assetCount).toBe(2);
  });

  it('makes nothing of nothing', () => {
    const { rows, lines, itemHashes, itemCount } = write([]);
    expect([rows.length, lines?.length, itemHashes.length, itemCount]).toEqual([0, 0, 0, 0]);
  });

  it('counts the order index on', () => {
    const rowBytes = write([item()]).rows.length;
    const bytes = Buffer.from(write([item(), item(), item()], 5).rows);
    expect([0, 1, 2].map((row) => bytes.readInt32BE(row * rowBytes + 2 + 20 + 4))).toEqual([5, 6, 7]);
  });

  it('writes the lines of an export, unless an item embeds files', () => {
    const one = item({}, '{"a":1}');
    const two = item({}, '{"b":"é"}');
    expect(Buffer.from(write([one, two]).lines ?? []).toString()).toBe('{"a":1}\n{"b":"é"}\n');
    const writer = new RowWriter({ partId: PART_ID, firstOrdinal: 0 }, { items: 2, bytes: 100 });
    writer.addLinked(linkItem({ assets: [{ mime_type: 'a/b', encoding: 'base64', data: 'AAAA' }] }));
    writer.add(two);
    expect(writer.end()).toMatchObject({ lines: null, itemCount: 2 });
  });

  it('makes more room where more comes than was expected', () => {
    const items = Array.from({ length: 50 }, (_, index) =>
      item({ answer: '"x"'.repeat(index) }, `{"i":${index}}`),
    );
    expect(write(items, 0, { items: 0, bytes: 0 })).toEqual(write(items, 0, { items: 100, bytes: 100_000 }));
  });

  it('keeps any text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (values) => {
        const texts = values.map((value) => canonicalJson(value));
        const bytes = Buffer.from(write(texts.map((payload) => item({ payload }))).rows);
        let at = 0;
        for (const expected of texts) {
          at += 2 + 20 + 8 + 8 + 36 + 4 + 8;
          const length = bytes.readInt32BE(at);
          expect(bytes.subarray(at + 4, at + 4 + length).toString('utf8')).toBe(expected);
          at += 4 + length + 24;
        }
        expect(at).toBe(bytes.length);
      }),
    );
  });
});

// What an export reads has an integer in place of the uuid and no type; the two encodings share everything else.
function toExportRow(row: ItemRow): Buffer {
  const parts: (Buffer | null)[] = [
    int(row.sectionOrderIndex),
    int(row.orderIndex),
    Buffer.from(row.itemHash),
    ...[row.answer, row.checker, row.assets, linkedFilesText(row), row.payload].map((text) =>
      text === null ? null : Buffer.from(text),
    ),
  ];
  return Buffer.concat([
    Buffer.from([0, 8]),
    ...parts.flatMap((part) => (part === null ? [int(-1)] : [int(part.length), part])),
  ]);
}
const linkedFilesText = ({ linkedFiles }: ItemRow): string | null =>
  linkedFiles.length === 0 ? null : writeLinkedFiles(linkedFiles);
function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

describe('decodeRows', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 }).map((value) => canonicalJson(value));
  const row: fc.Arbitrary<ItemRow> = fc.record({
    sectionOrderIndex: fc.nat(),
    orderIndex: fc.nat(),
    itemHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    payload: text,
    answer: fc.option(text),
    checker: fc.option(text),
    assets: fc.option(text),
    linkedFiles: fc.array(
      fc.record({
        pointer: fc.string({ unit: 'grapheme' }),
        start: fc.nat(),
        end: fc.nat(),
        before: text,
        after: text,
        sha256: text,
        byteLength: fc.nat(),
      }),
      { maxLength: 3 },
    ),
  });

  it('gives every row back, however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 20 }),
        fc.array(fc.integer({ min: 1, max: 300 })),
        async (rows, cuts) => {
          const bytes = Buffer.concat([COPY_HEADER, ...rows.map(toExportRow), COPY_TRAILER]);
          async function* chunks(): AsyncGenerator<Uint8Array> {
            let at = 0;
            for (const cut of cuts) {
              if (at < bytes.length) yield bytes.subarray(at, at + cut);
              at += cut;
            }
            if (at < bytes.length) yield bytes.subarray(at);
          }
          const found: ItemRow[] = [];
          for await (const batch of decodeRows(cutRows(chunks()))) found.push(...batch);
          expect(found).toEqual(rows);
        },
      ),
    );
  });

  it('lets other work run while it reads a large row', async () => {
    const large = `"${'\uFEFF€x😀'.repeat(1_500_000)}"`;
    const small: ItemRow = {
      ...{ sectionOrderIndex: 0, orderIndex: 0, itemHash: HASH, payload: '1' },
      ...{ answer: null, checker: null, assets: null, linkedFiles: [] },
    };
    const rows = [
      small,
      { ...small, orderIndex: 1, payload: large, assets: large },
      { ...small, orderIndex: 2 },
    ];
    const bytes = Buffer.concat([COPY_HEADER, ...rows.map(toExportRow), COPY_TRAILER]);
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 65_521) yield bytes.subarray(at, at + 65_521);
    }
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const found: ItemRow[] = [];
    for await (const batch of decodeRows(cutRows(chunks()))) found.push(...batch);
    clearInterval(timer);
    expect(found.map(({ orderIndex }) => orderIndex)).toEqual([0, 1, 2]);
    expect(found[1]?.payload === large && found[1]?.assets === large).toBe(true);
    expect(turns).toBeGreaterThan(2);
  });
});

describe('BufferPool', () => {
  const MIB = 1024 * 1024;

  it('hands out a buffer that was taken back', () => {
    const pool = new BufferPool();
    const { buffer } = pool.acquire(MIB);
    pool.release(buffer);
    expect(pool.acquire(MIB - 1).buffer).toBe(buffer);
    expect(pool.acquire(MIB).buffer).not.toBe(buffer);
  });

  it('keeps 8 MiB, and frees what exceeds them', () => {
    const pool = new BufferPool();
    const buffers = Array.from({ length: 20 }, () => pool.acquire(MIB).buffer);
    for (const buffer of buffers) pool.release(buffer);
    expect(buffers.filter(({ detached }) => detached)).toHaveLength(12);
    const large = pool.acquire(5 * MIB).buffer;
    pool.release(large);
    expect(large.detached).toBe(true);
    expect(pool.drain()).toHaveLength(8);
    expect(pool.drain()).toEqual([]);
    const next = pool.acquire(MIB).buffer;
    pool.release(next);
    expect(next.detached).toBe(false);
  });
});
