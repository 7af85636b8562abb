import { canonicalJson, type JsonObject, type JsonValue, parseNumber, setMember } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import {
  encodeNames,
  encodeValue,
  littleEndian,
  namesOf,
  type VariantNode,
  type Widths,
} from '../../../test/encode-variant.ts';
import { ParquetError } from '../parquet-error.ts';
import { VariantNames } from './variant-names.ts';
import { decodeVariant, VariantLimit } from './variant-value.ts';

interface Sample {
  node: VariantNode;
  json: JsonValue;
}

function decode(value: Uint8Array, names: Uint8Array = encodeNames([])): JsonValue {
  return decodeVariant(value, new VariantNames(names), new VariantLimit());
}

const plain = (kind: number, payload: Uint8Array, json: JsonValue): Sample => ({
  node: { kind, payload },
  json,
});
const none = new Uint8Array(0);
const sized = (bytes: Uint8Array): Uint8Array => Buffer.concat([littleEndian(bytes.length, 4), bytes]);
const float = (value: number, width: 4 | 8): Uint8Array =>
  new Uint8Array((width === 4 ? Float32Array : Float64Array).of(value).buffer);
const finite = (value: number): JsonValue => (Number.isFinite(value) ? value : null);
const decimalOf = (unscaled: bigint, scale: number): JsonValue => {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = scale === 0 ? '' : `.${digits.slice(point)}`;
  return parseNumber(`${unscaled < 0n ? '-' : ''}${digits.slice(0, point)}${fraction}`);
};
/** Years 0 to 9999, within which JavaScript's dates can be asked. */
const micros = fc.bigInt({ min: -62_167_219_200_000_000n, max: 253_402_300_799_999_999n });
const isoMicros = (value: bigint): string => {
  const seconds = (value - (((value % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n;
  const fraction = value - seconds * 1_000_000n;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return fraction === 0n ? text : `${text}.${fraction.toString().padStart(6, '0')}`;
};

const primitive: fc.Arbitrary<Sample> = fc.oneof(
  fc.constantFrom(plain(0, none, null), plain(1, none, true), plain(2, none, false)),
  ...([1, 2, 4, 8] as const).map((width, index) => {
    const edge = 1n << BigInt(width * 8 - 1);
    return fc
      .bigInt({ min: -edge, max: edge - 1n })
      .map((value) => plain(3 + index, littleEndian(value, width), parseNumber(value.toString())));
  }),
  fc.double().map((value) => plain(7, float(value, 8), finite(value))),
  fc.float().map((value) => plain(14, float(value, 4), finite(value))),
  ...([4, 8, 16] as const).map((width, index) => {
    const edge = 1n << BigInt(width * 8 - 1);
    return fc
      .tuple(fc.bigInt({ min: -edge, max: edge - 1n }), fc.integer({ min: 0, max: 38 }))
      .map(([unscaled, scale]) =>
        plain(
          8 + index,
          Buffer.concat([Uint8Array.of(scale), littleEndian(unscaled, width)]),
          decimalOf(unscaled, scale),
        ),
      );
  }),
  fc
    .integer({ min: -719_528, max: 2_932_896 })
    .map((days) => plain(11, littleEndian(days, 4), new Date(days * 86_400_000).toISOString().slice(0, 10))),
  micros.map((value) => plain(12, littleEndian(value, 8), `${isoMicros(value)}Z`)),
  micros.map((value) => plain(13, littleEndian(value, 8), isoMicros(value))),
  fc
    .uint8Array({ maxLength: 80 })
    .map((bytes) => plain(15, sized(bytes), Buffer.from(bytes).toString('base64'))),
  fc.string({ unit: 'grapheme' }).map((text) => plain(16, sized(Buffer.from(text)), text)),
  fc
    .bigInt({ min: 0n, max: 86_399_999_999n })
    .map((value) => plain(17, littleEndian(value, 8), isoMicros(value).slice(11))),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => {
    const hex = Buffer.from(bytes).toString('hex');
    const text = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    return plain(20, bytes, text);
  }),
  fc.string({ maxLength: 15 }).map((text) => {
    const short = Buffer.from(text);
    return { node: { short }, json: text };
  }),
);

const widths: fc.Arbitrary<Widths> = fc.record({
  offset: fc.constantFrom(1 as const, 2 as const, 3 as const, 4 as const),
  id: fc.constantFrom(1 as const, 2 as const, 3 as const, 4 as const),
  isLarge: fc.boolean(),
});

const { value: anyValue } = fc.letrec<{ value: Sample }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    primitive,
    fc.tuple(fc.array(tie('value'), { maxLength: 6 }), widths).map(([samples, wide]) => ({
      node: { items: samples.map(({ node }) => node), widths: wide },
      json: samples.map(({ json }) => json),
    })),
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value')), {
          selector: ([name]) => name,
          maxLength: 6,
        }),
        widths,
      )
      .map(([members, wide]) => {
        const json: JsonObject = {};
        for (const [name, sample] of members) setMember(json, name, sample.json);
        return {
          node: { members: members.map(([name, { node }]) => [name, node] as const), widths: wide },
          json,
        };
      }),
  ),
}));

const encode = ({ node }: Sample): { value: Uint8Array; names: Uint8Array } => {
  const names = [...new Set(namesOf(node))];
  return { value: encodeValue(node, names), names: encodeNames(names) };
};

describe('a VARIANT', () => {
  it('is decoded to the JSON of its value', () => {
    fc.assert(
      fc.property(anyValue, (sample) => {
        const { value, names } = encode(sample);
        expect(canonicalJson(decode(value, names))).toBe(canonicalJson(sample.json));
      }),
      { numRuns: times(500, 100) },
    );
  });

  it('keeps nanoseconds, and the mark of UTC', () => {
    const nanos = littleEndian(1_577_934_245_123_456_789n, 8);
    expect(decode(encodeValue({ kind: 18, payload: nanos }, []))).toBe('2020-01-02T03:04:05.123456789Z');
    expect(decode(encodeValue({ kind: 19, payload: nanos }, []))).toBe('2020-01-02T03:04:05.123456789');
    expect(decode(encodeValue({ kind: 17, payload: littleEndian(-1, 8) }, []))).toBe(-1);
  });

  it('gives the same value or an error, whatever is around its bytes', () => {
    const among = (bytes: Uint8Array, filler: number): Uint8Array => {
      const memory = new Uint8Array(bytes.length + 128).fill(filler);
      memory.set(bytes, 64);
      return memory.subarray(64, 64 + bytes.length);
    };
    const outcome = (value: Uint8Array, names: Uint8Array, filler: number): string => {
      try {
        return canonicalJson(decode(among(value, filler), among(names, filler)));
      } catch (error) {
        if (!(error instanceof ParquetError)) throw error;
        return `${error.code}: ${error.message}`;
      }
    };
    const changes = fc.array(fc.tuple(fc.boolean(), fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    let refused = 0;
    fc.assert(
      fc.property(anyValue, changes, fc.nat(8), (sample, edits, cut) => {
        const { value, names } = encode(sample);
        for (const [inNames, at, byte] of edits) {
          const bytes = inNames ? names : value;
          bytes[at % bytes.length] = byte;
        }
        const shorter = value.subarray(0, Math.max(0, value.length - Math.floor(cut / 4)));
        const found = outcome(shorter, names, 0x4a);
        expect(outcome(shorter, names, 0x51)).toBe(found);
        if (/^\w+_file: /.test(found)) refused += 1;
      }),
      { numRuns: times(2000, 400) },
    );
    expect(refused).toBeGreaterThan(200);
  });

  const array = (count: number, offsets: number[], values: number[]): number[] => [
    3,
    count,
    ...offsets,
    ...values,
  ];
  it.each([
    ['no bytes', [], 'a VARIANT reaches beyond the end of its bytes'],
    ['bytes after its value', [0, 0], 'a VARIANT does not end with its value'],
    ['an unknown type', [21 << 2], 'a VARIANT holds a value of type 21'],
    ['a scale that no decimal has', [8 << 2, 39, 1, 0, 0, 0], 'a decimal of a VARIANT has the scale 39'],
    ['a text longer than it', [(5 << 2) | 1, 0x61], 'a VARIANT reaches beyond the end of its bytes'],
    ['a text that is not UTF-8', [(1 << 2) | 1, 0xff], 'a text is not UTF-8'],
    ['a binary of 4 GiB', [15 << 2, 255, 255, 255, 255], 'a VARIANT reaches beyond the end of its bytes'],
    [
      'an array of 4 billion values',
      [0x13, 255, 255, 255, 255, 0],
      'a VARIANT reaches beyond the end of its bytes',
    ],
    ['an offset beyond its array', array(1, [9, 1], [0]), 'a VARIANT reaches beyond the end of its bytes'],
    ['one value twice', array(2, [0, 0, 2], [0, 0, 0]), 'a VARIANT does not end with its value'],
    [
      'overlapping values',
      array(3, [0, 0, 0, 5], [16 << 2, 1, 0, 0, 0]),
      'a VARIANT reaches beyond the end of its bytes',
    ],
    ['a loop', array(1, [0, 1], [3]), 'a VARIANT reaches beyond the end of its bytes'],
    ['a member without a name', [2, 1, 3, 0, 1, 0], 'a member of a VARIANT has no name'],
    [
      'two members of one name',
      [2, 2, 0, 0, 0, 1, 2, 0, 0],
      'an object of a VARIANT has two members of one name',
    ],
  ])('with %s is refused', (_, bytes, message) => {
    expect(() => decode(Uint8Array.from(bytes), encodeNames(['a']))).toThrow(
      expect.objectContaining({ name: expect.stringMatching(/Error$/), message }),
    );
  });

  it('is not decoded twice where values share bytes', () => {
    // Every array lists the next one many times: two to the power of its depth, if they could.
    let bytes: number[] = [0];
    for (let depth = 0; depth < 20; depth += 1) bytes = [3, 2, 0, 0, bytes.length, ...bytes];
    expect(() => decode(Uint8Array.from(bytes))).toThrow('values of a VARIANT overlap');
    expect(() => {
      const names = new VariantNames(Uint8Array.from([1, 4, 0, 9, 0, 9, 0, ...Buffer.from('abcdefghi')]));
      for (const id of [0, 2]) names.get(id);
    }).toThrow('names of a VARIANT overlap');
  });

  it('of too many levels or values is an invalid row', () => {
    let deep: VariantNode = { kind: 0, payload: none };
    for (let depth = 0; depth < 256; depth += 1) deep = { items: [deep] };
    expect(JSON.stringify(decode(encodeValue(deep, [])))).toHaveLength(516);
    expect(() => decode(encodeValue({ items: [deep] }, []))).toThrow(
      expect.objectContaining({ code: 'invalid_row', message: expect.stringContaining('256 levels') }),
    );
    const limit = new VariantLimit();
    const names = new VariantNames(encodeNames([]));
    const nothing = Uint8Array.of(0);
    for (let value = 0; value < 250_000; value += 1) decodeVariant(nothing, names, limit);
    expect(() => decodeVariant(nothing, names, limit)).toThrow(
      expect.objectContaining({ code: 'invalid_row', message: expect.stringContaining('250000 values') }),
    );
  });

  it.each([
    ['no bytes', [], 'the names of a VARIANT end early'],
    ['another version', [2, 0, 0], 'a VARIANT is of version 2'],
    ['more names than bytes', [1, 200, 0, 1], 'the names of a VARIANT end early'],
    ['a name beyond its end', [1, 1, 0, 9, 0x61], 'a name of a VARIANT reaches beyond its bytes'],
    ['a name that ends before it begins', [1, 1, 1, 0, 0x61], 'a name of a VARIANT reaches beyond its bytes'],
  ])('whose names have %s is refused', (_, bytes, message) => {
    expect(() => new VariantNames(Uint8Array.from(bytes)).get(0)).toThrow(message);
  });
});
