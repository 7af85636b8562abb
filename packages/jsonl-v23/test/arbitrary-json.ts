import fc from 'fast-check';
import { ExactNumber, type JsonObject, type JsonValue, setMember } from '../src/json/json-value.ts';

/** Any sequence of UTF-16 code units, with many of those that JSON treats in a special way. */
export const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0x20, max: 0x7e }),
      fc.constantFrom(
        0,
        8,
        9,
        10,
        12,
        13,
        0x1f,
        0x22,
        0x5c,
        0x2f,
        0x7f,
        0x2028,
        0xd800,
        0xdbff,
        0xdc00,
        0xdfff,
        0xfeff,
      ),
    ),
    { maxLength: 12 },
  )
  .map((units) => String.fromCharCode(...units));

const anyKey: fc.Arbitrary<string> = fc.oneof(
  anyText,
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '0',
    '1',
    '10',
    '2',
    'a',
    'b',
    'toJSON',
  ),
);

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((list) => list.join(''));

/** Number literals as RFC 8259 allows them. */
export const numberLiteral: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.integer({ min: 1, max: 9 }), digits(0, 24)).map(([first, rest]) => first + rest),
    ),
    fc.oneof(
      fc.constant(''),
      digits(1, 24).map((fraction) => `.${fraction}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc
        .tuple(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-'), fc.integer({ min: 0, max: 400 }))
        .map(([letter, exponent]) => letter + exponent),
    ),
  )
  .map((parts) => parts.join(''));

const exactNumber: fc.Arbitrary<ExactNumber> = fc
  .bigInt()
  // 7 itself is a plain number.
  .filter((value) => value !== 0n)
  .map((value) => new ExactNumber(String(value * 10n ** 18n + 7n)));

export const jsonObject: (value: fc.Arbitrary<JsonValue>) => fc.Arbitrary<JsonObject> = (value) =>
  fc.array(fc.tuple(anyKey, value), { maxLength: 6 }).map((members) => {
    const object: JsonObject = {};
    for (const [key, member] of members) setMember(object, key, member);
    return object;
  });

/** Any JSON value, nested a little. */
export const jsonValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; object: JsonObject }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(
        fc.constantFrom(null, true, false),
        anyText,
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number || 0),
        exactNumber,
      ),
      fc.array(tie('value'), { maxLength: 5 }),
      tie('object'),
    ),
    object: jsonObject(tie('value')),
  }),
).value;

/** Items: objects whose known keys, where present, have their types. */
export const item: fc.Arbitrary<JsonObject> = fc
  .tuple(
    fc.record(
      {
        id: fc.oneof(anyText, fc.integer(), exactNumber),
        type: anyText,
        inputs: fc.record({ prompt: anyText, system_prompt: fc.option(anyText) }, { requiredKeys: [] }),
        answer: jsonValue,
        checker: fc.oneof(fc.constant(null), anyText, fc.record({ type: anyText })),
        assets: fc.array(fc.record({ mime_type: anyText, url: fc.webUrl() }), { maxLength: 3 }),
        meta: fc.record({ a: jsonValue, b: jsonValue }, { requiredKeys: [] }),
        tags: fc.array(anyText, { maxLength: 3 }),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    jsonObject(jsonValue),
  )
  .map(([known, others]) => {
    const object: JsonObject = { ...known } as JsonObject;
    for (const [key, value] of Object.entries(others)) {
      if (!Object.hasOwn(object, key)) setMember(object, key, value);
    }
    return object;
  });

/** The text of a value with its members in another order, white space between its tokens, and escapes everywhere. */
export function spellDifferently(value: JsonValue): string {
  if (Array.isArray(value)) return `[ ${value.map(spellDifferently).join(' ,\t')}\r]`;
  if (typeof value === 'string') return escapeAll(value);
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber)) {
    const members = Object.keys(value)
      .toReversed()
      .map((key) => `${escapeAll(key)} : ${spellDifferently(value[key] as JsonValue)}`);
    return `{ ${members.join(' , ')} }`;
  }
  return value instanceof ExactNumber ? value.text : JSON.stringify(value);
}

function escapeAll(text: string): string {
  const escaped = [...Array(text.length).keys()].map(
    (index) => `\\u${text.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return `"${escaped.join('')}"`;
}

/** A stream of the given pieces. */
export async function* streamOf(
  ...pieces: (Uint8Array | string)[]
): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of pieces) yield typeof piece === 'string' ? new TextEncoder().encode(piece) : piece;
}

/** A stream of bytes in pieces of the given size. */
export async function* streamIn(
  bytes: Uint8Array,
  size: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.slice(start, start + size);
}

/** Everything that an async iterable gives. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** The error that a call throws; fails when it throws none. */
export function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
}

/** The error that a promise is rejected with; fails when it is not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
}
