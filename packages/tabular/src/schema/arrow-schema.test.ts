import { encodeBase64 } from '@svc/jsonl-v23/bytes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeArrowSchema } from './arrow-schema.ts';
import { dtypeOf } from './features.ts';

/** A value of a FlatBuffer: a scalar of this size in bytes, a text, a table, or a vector of tables. */
type Slot = { bytes: number; value: number } | string | Slots | Slots[];
type Slots = (Slot | null)[];

const u8 = (value: number): Slot => ({ bytes: 1, value });
const i16 = (value: number): Slot => ({ bytes: 2, value });
const i32 = (value: number): Slot => ({ bytes: 4, value });

/** Writes tables front to back: each one's vtable, the table, then what it points to. */
class Writer {
  bytes: number[] = [];

  number(value: number, size: number): void {
    for (let at = 0; at < size; at += 1) this.bytes.push((value >> (8 * at)) & 255);
  }

  patch(at: number, target: number): void {
    for (let index = 0; index < 4; index += 1) this.bytes[at + index] = ((target - at) >> (8 * index)) & 255;
  }

  table(slots: Slots): number {
    while (this.bytes.length % 4 !== 0) this.bytes.push(0);
    const vtable = this.bytes.length;
    const size = 4 + slots.length * 2;
    this.number(size, 2);
    this.number(4 + slots.length * 4, 2);
    for (const [index, slot] of slots.entries()) this.number(slot === null ? 0 : 4 + index * 4, 2);
    const table = this.bytes.length;
    this.number(table - vtable, 4);
    for (const slot of slots) this.number(isScalar(slot) ? slot.value : 0, 4);
    for (const [index, slot] of slots.entries()) {
      if (slot !== null && !isScalar(slot)) this.patch(table + 4 + index * 4, this.write(slot));
    }
    return table;
  }

  write(slot: string | Slots | Slots[]): number {
    if (typeof slot === 'string') {
      const start = this.bytes.length;
      const text = new TextEncoder().encode(slot);
      this.number(text.length, 4);
      this.bytes.push(...text, 0);
      return start;
    }
    if (!isVector(slot)) return this.table(slot);
    const start = this.bytes.length;
    this.number(slot.length, 4);
    for (const _ of slot) this.number(0, 4);
    for (const [index, inner] of slot.entries()) this.patch(start + 4 + index * 4, this.table(inner));
    return start;
  }
}

const isScalar = (slot: Slot | null): slot is { bytes: number; value: number } =>
  typeof slot === 'object' && slot !== null && 'bytes' in slot;
const isVector = (slot: Slots | Slots[]): slot is Slots[] =>
  Array.isArray(slot[0]) && !isField(slot as Slots);
// A field table begins with its name; vectors of tables begin with a table.
const isField = (slot: Slots): boolean => typeof slot[0] === 'string';

const field = (
  name: string,
  type: number,
  table: Slots | null,
  children: Slots[] = [],
  metadata: Slots[] = [],
): Slots => [
  name,
  null,
  u8(type),
  table ?? [null],
  null,
  children.length === 0 ? null : children,
  metadata.length === 0 ? null : metadata,
];

function message(fields: Slots[], header = 1): Uint8Array {
  const writer = new Writer();
  writer.number(0xffffffff, 4);
  writer.number(0, 4);
  const root = writer.bytes.length;
  writer.number(0, 4);
  const table = writer.table([i16(4), u8(header), [null, fields]]);
  writer.patch(root, table);
  return new Uint8Array(writer.bytes);
}

const decode = (...fields: Slots[]): string[] =>
  decodeArrowSchema(encodeBase64(message(fields)))!.map(
    ({ name, feature }) => `${name}: ${dtypeOf(feature)}`,
  );

describe('decodeArrowSchema', () => {
  const text = field('item', 5, null);
  it.each<[string, Slots]>([
    ['null', field('x', 1, null)],
    ['int64', field('x', 2, [i32(64), u8(1)])],
    ['uint8', field('x', 2, [i32(8), null])],
    ['float16', field('x', 3, [null])],
    ['float64', field('x', 3, [i16(2)])],
    ['binary', field('x', 4, null)],
    ['string', field('x', 5, null)],
    ['bool', field('x', 6, null)],
    ['decimal128(20, 4)', field('x', 7, [i32(20), i32(4), null])],
    ['decimal256(50, 0)', field('x', 7, [i32(50), null, i32(256)])],
    ['date32', field('x', 8, [i16(0)])],
    ['date64', field('x', 8, [null])],
    ['time32[s]', field('x', 9, [i16(0)])],
    ['time32[ms]', field('x', 9, [null])],
    ['time64[ns]', field('x', 9, [i16(3), i32(64)])],
    ['timestamp[s]', field('x', 10, [null])],
    ['timestamp[us, tz=America/New_York]', field('x', 10, [i16(2), 'America/New_York'])],
    ['duration[ms]', field('x', 18, [null])],
    ['duration[ns]', field('x', 18, [i16(3)])],
    ['fixed_size_binary[16]', field('x', 15, [i32(16)])],
    ['large_binary', field('x', 19, null)],
    ['large_string', field('x', 20, null)],
    ['binary_view', field('x', 23, null)],
    ['string_view', field('x', 24, null)],
    ['list<string>', field('x', 12, null, [text])],
    ['large_list<string>', field('x', 21, null, [text])],
    ['list<string>[3]', field('x', 16, [i32(3)], [text])],
    [
      'struct<a: bool, b: struct<c: string>>',
      field('x', 13, null, [field('a', 6, null), field('b', 13, null, [field('c', 5, null)])]),
    ],
    [
      'map<string, int64>',
      field('x', 17, null, [
        field('entries', 13, null, [field('key', 5, null), field('value', 2, [i32(64), u8(1)])]),
      ]),
    ],
    ['json', field('x', 5, null, [], [['ARROW:extension:name', 'arrow.json']])],
    [
      'array2d<int32>[2,3]',
      field(
        'x',
        12,
        null,
        [text],
        [
          ['ARROW:extension:name', 'datasets.features.features.Array2DExtensionType'],
          ['ARROW:extension:metadata', '[[2, 3], "int32"]'],
        ],
      ),
    ],
    ['arrow_14', field('x', 14, null)],
  ])('%s', (dtype, slots) => {
    expect(decode(slots)).toEqual([`x: ${dtype}`]);
  });

  it('keeps the order of columns', () => {
    expect(decode(field('b', 5, null), field('a', 6, null))).toEqual(['b: string', 'a: bool']);
  });

  it.each([
    ['no base64', '%%%'],
    ['nothing', ''],
    ['another message', encodeBase64(message([text], 3))],
    ['a message cut short', encodeBase64(message([text]).slice(0, 60))],
  ])('gives nothing for %s', (_, base64) => {
    expect(decodeArrowSchema(base64)).toBeNull();
  });

  it('survives any damage', () => {
    const whole = message([
      field('x', 13, null, [text, field('y', 12, null, [text])]),
      field('z', 10, [i16(2), 'UTC']),
    ]);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, value) => {
        const damaged = whole.slice();
        damaged[at] = value;
        expect(() => decodeArrowSchema(encodeBase64(damaged))).not.toThrow();
      }),
    );
  });
});
