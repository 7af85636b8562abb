import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JsonBody, JsonText, toJsonText } from './response.ts';

const MARK = String.raw`"\u0041"`;

describe('toJsonText', () => {
  it('writes texts as they are, undefined members not at all, and dates in UTC', () => {
    const body = {
      a: new JsonText('{"n":1.0,"big":12345678901234567890}'),
      b: undefined,
      c: [undefined, new JsonText(MARK), Number.NaN, -0],
      d: new Date(Date.UTC(2026, 0, 2)),
      'é"': new JsonText('null'),
    };
    expect(toJsonText(body)).toBe(
      `{"a":{"n":1.0,"big":12345678901234567890},"c":[null,${MARK},null,0],"d":"2026-01-02T00:00:00.000Z","é\\"":null}`,
    );
    expect([undefined, null, 'A', new JsonText('1e400')].map((one) => toJsonText(one))).toEqual([
      ...['null', 'null', '"A"', '1e400'],
    ]);
    expect(() => JSON.stringify(body)).toThrow('use toJsonText');
  });

  it('confuses no other value with the place of a text', () => {
    const unit = fc.constantFrom('"', '\\', 'u0041', 'A', ',', ':', '\u0000', '\ud800', 'é', MARK);
    const text = fc.array(unit, { maxLength: 8 }).map((units) => units.join(''));
    const { value } = fc.letrec<{ value: [JsonBody, unknown] }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text.map((one) => [one, one] as [JsonBody, unknown]),
        text.map((one) => [new JsonText(JSON.stringify([one])), [one]] as [JsonBody, unknown]),
        fc.dictionary(text, tie('value'), { noNullPrototype: true }).map((members) => {
          const side = (at: 0 | 1): unknown =>
            Object.fromEntries(Object.entries(members).map(([key, pair]) => [key, pair[at]]));
          return [side(0), side(1)] as [JsonBody, unknown];
        }),
        fc
          .array(tie('value'))
          .map(
            (pairs) => [pairs.map(([body]) => body), pairs.map(([, plain]) => plain)] as [JsonBody, unknown],
          ),
      ),
    }));
    fc.assert(
      fc.property(value, ([body, plain]) => {
        expect(toJsonText(body)).toBe(JSON.stringify(plain));
      }),
    );
  });
});
