import { randomUUID } from 'node:crypto';
import type { EncodedItem } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DecodedRow, decodeRows } from './decode-rows.ts';
import { COPY_HEADER, COPY_TRAILER, encodeRows } from './encode-rows.ts';

const item = (facts: Partial<EncodedItem> = {}): EncodedItem => ({
  itemHash: new Uint8Array(32).fill(7),
  type: 'freeform',
  payload: '{}',
  answer: null,
  checker: null,
  assets: null,
  assetCount: 0,
  ...facts,
});

describe('encodeRows', () => {
  it('writes a row as PostgreSQL documents it', () => {
    const id = '00112233-4455-6677-8899-aabbccddeeff';
    const bytes = encodeRows([item({ payload: '{"a":"é"}', answer: '1' })], id, 258);
    const expected = [
      '0008', // fields
      '00000010 00112233445566778899aabbccddeeff',
      '00000004 00000102',
      `00000020 ${'07'.repeat(32)}`,
      `00000008 ${Buffer.from('freeform').toString('hex')}`,
      `0000000a ${Buffer.from('{"a":"é"}').toString('hex')}`,
      '00000001 31',
      'ffffffff',
      'ffffffff',
    ];
    expect(Buffer.from(bytes).toString('hex')).toBe(expected.join('').replaceAll(' ', ''));
  });

  it('makes nothing of nothing', () => {
    expect(encodeRows([], randomUUID(), 0)).toHaveLength(0);
  });

  it('counts the order index on', () => {
    const rowBytes = encodeRows([item()], randomUUID(), 0).length;
    const bytes = Buffer.from(encodeRows([item(), item(), item()], randomUUID(), 5));
    expect([0, 1, 2].map((row) => bytes.readInt32BE(row * rowBytes + 2 + 20 + 4))).toEqual([5, 6, 7]);
  });
});

// What an export reads has an integer in place of the uuid and no type; the two encodings share everything else.
function toExportRow(row: DecodedRow): Buffer {
  const parts: (Buffer | null)[] = [
    int(row.sectionOrderIndex),
    int(row.orderIndex),
    Buffer.from(row.itemHash),
    Buffer.from(row.payload),
    ...[row.answer, row.checker, row.assets].map((text) => (text === null ? null : Buffer.from(text))),
  ];
  return Buffer.concat([
    Buffer.from([0, 7]),
    ...parts.flatMap((part) => (part === null ? [int(-1)] : [int(part.length), part])),
  ]);
}
function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

describe('decodeRows', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 }).map((value) => canonicalJson(value));
  const row: fc.Arbitrary<DecodedRow> = fc.record({
    sectionOrderIndex: fc.nat(),
    orderIndex: fc.nat(),
    itemHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    payload: text,
    answer: fc.option(text),
    checker: fc.option(text),
    assets: fc.option(text),
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
          const found: DecodedRow[] = [];
          for await (const batch of decodeRows(chunks())) found.push(...batch);
          expect(found).toEqual(rows);
        },
      ),
    );
  });
});

describe('the two together', () => {
  it('keep any text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (values) => {
        const texts = values.map((value) => canonicalJson(value));
        const bytes = Buffer.from(
          encodeRows(
            texts.map((payload) => item({ payload })),
            randomUUID(),
            0,
          ),
        );
        let at = 0;
        for (const expected of texts) {
          at += 2 + 20 + 8 + 36 + 4 + 8;
          const length = bytes.readInt32BE(at);
          expect(bytes.subarray(at + 4, at + 4 + length).toString('utf8')).toBe(expected);
          at += 4 + length + 12;
        }
        expect(at).toBe(bytes.length);
      }),
    );
  });
});
