import { hasPrompt } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { ItemScan, kindOf, typeOf } from './item-scan.ts';

const idOf = (text: string): string | null => {
  const bytes = Buffer.from(`before${text}`);
  const { idStart, idEnd } = new ItemScan().read(bytes, 6);
  return idStart === -1 ? null : bytes.toString('utf8', idStart, idEnd);
};

it('finds the id of an item whatever members come before it', () => {
  const key = fc.oneof(fc.constantFrom('a', 'i', 'ic', 'ida', 'id"', 'i\\', 'é', 'b"},"id":1'), fc.string());
  const members = fc.dictionary(key, fc.jsonValue({ noUnicodeString: false }), { maxKeys: 6 });
  const id = fc.option(fc.oneof(fc.integer(), fc.string({ unit: 'grapheme' })), { nil: undefined });
  fc.assert(
    fc.property(members, id, ({ id: _, ...others }, value) => {
      const item = { ...others, ...(value === undefined ? {} : { id: value }) } as JsonObject;
      expect(idOf(canonicalJson(item))).toBe(value === undefined ? null : canonicalJson(value));
    }),
    { numRuns: times(500, 100) },
  );
});

it.each([
  ['{}', null],
  ['null', null],
  ['{"context":"\\\\\\"}{[\\\\","id":"a\\"b","z":1}', '"a\\"b"'],
  ['{"a":{"id":1},"b":[{"id":2}],"id":3}', '3'],
  ['{"a":"\\\\","ie":1}', null],
])('reads %s', (text, expected) => expect(idOf(text)).toBe(expected));

it.each([
  [{ inputs: { prompt: 'p' } }, true],
  [{ id: 'i', inputs: { choices: ['"prompt":"x"'], prompt: '', system_prompt: 's' }, meta: {} }, true],
  [{ inputs: { choices: [{ prompt: 'x' }], messages: [{ role: 'user', content: 'p' }] } }, true],
  [{ inputs: { messages: [] } }, false],
  [{ inputs: { messages: [], prompt: 'p' } }, true],
  [{ inputs: { question: 'q', prompts: 'p' } }, false],
  [{ inputs: {} }, false],
  [{ inputs: null }, false],
  [{ answer: 'a', prompt: 'p' }, false],
  [{}, false],
])('tells whether %j has a prompt or messages', (item, has) => {
  expect(new ItemScan().read(Buffer.from(canonicalJson(item as JsonObject)), 0).hasPrompt).toBe(has);
  expect(hasPrompt(item as JsonObject)).toBe(has);
});

/** The type of a column of one number, by what its type can hold. */
function typeOfNumber(text: string): string {
  const value = Number(text);
  if (!/^-?\d+$/.test(text)) return String(value) === text && !Number.isInteger(value) ? 'double' : 'json';
  return text.length <= 20 && BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? 'int64' : 'json';
}

it('tells the type of every number from its canonical text, wherever it stands', () => {
  const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,24})(?:\.\d{0,12}[1-9])?(?:e[+-]?\d{1,2})?$/);
  fc.assert(
    fc.property(
      fc.oneof(digits, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String)),
      (literal) => {
        const text = canonicalJson(parseJson(literal));
        const bytes = Buffer.from(`[${text}]`);
        expect(typeOf(kindOf(bytes, 1, bytes.length - 1))).toBe(typeOfNumber(text));
      },
    ),
    { numRuns: times(20_000, 1_000) },
  );
});
