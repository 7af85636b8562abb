import type { Item } from '@svc/jsonl-v23';
import { type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TOOL_CALLS } from './tool-calls.ts';

const check = (answer: JsonValue, output: JsonValue, options: JsonObject = {}) =>
  TOOL_CALLS.check({ item: { answer } as Item, output, options });

/** Calls as chat completions have them: `f {"a": 1}`. */
const calls = (...texts: string[]): JsonValue => ({
  tool_calls: texts.map((text, at) => {
    const [name = '', ...args] = text.split(' ');
    return { id: `call_${at}`, type: 'function', function: { name, arguments: args.join(' ') } };
  }),
});
/** Calls as answers have them. */
const answerOf = (...texts: string[]): JsonValue =>
  texts.map((text) => {
    const [name = '', ...args] = text.split(' ');
    return { name, arguments: parseJson(args.join(' ')) };
  });

const PARIS = 'get {"city": "Paris"}';
const ROME = 'get {"city": "Rome"}';
const PARIS_IN_C = 'get {"city": "Paris", "unit": "C"}';

describe('tool_calls', () => {
  it.each<[string, JsonValue, JsonValue, boolean, JsonObject?]>([
    ['the same call', answerOf(PARIS), calls(PARIS), true],
    ['another spelling', answerOf('f {"a": 1, "b": [1.0]}'), calls('f { "b":[1], "a":1e0 }'), true],
    [
      'arguments as an object',
      answerOf(PARIS),
      { tool_calls: [{ function: { name: 'get', arguments: { city: 'Paris' } } }] },
      true,
    ],
    [
      'the Messages API',
      answerOf(PARIS),
      { tool_calls: [{ type: 'tool_use', name: 'get', input: { city: 'Paris' } }] },
      true,
    ],
    ['another name', answerOf(PARIS), calls('put {"city": "Paris"}'), false],
    ['another value', answerOf(PARIS), calls(ROME), false],
    ['a number as text', answerOf('f {"a": 1}'), calls('f {"a": "1"}'), false],
    ['large numbers', answerOf('f {"a": 9007199254740993}'), calls('f {"a": 9007199254740992}'), false],
    ['arguments that are not JSON', answerOf(PARIS), calls('get {"city": '), false],
    ['no arguments', answerOf('now {}'), calls('now '), true],
    ['text', answerOf(PARIS), 'I call get with Paris', false],
    ['JSON text', answerOf(PARIS), JSON.stringify(answerOf(PARIS)), false],
    ['no calls where none is right', [], 'It is 5 o’clock.', true],
    ['a call where none is right', [], calls(PARIS), false],
    ['an element that is no call', answerOf(PARIS), { tool_calls: [null] }, false],
    ['another order', answerOf(PARIS, ROME), calls(ROME, PARIS), true],
    ['another order, strict', answerOf(PARIS, ROME), calls(ROME, PARIS), false, { order: 'strict' }],
    ['the same order, strict', answerOf(PARIS, ROME), calls(PARIS, ROME), true, { order: 'strict' }],
    ['a call twice', answerOf(PARIS), calls(PARIS, PARIS), false],
    ['a call once', answerOf(PARIS, PARIS), calls(PARIS), false],
    ['a further call', answerOf(PARIS), calls(PARIS, ROME), false],
    ['a further call that is allowed', answerOf(PARIS), calls(ROME, PARIS), true, { extra: 'allow' }],
    [
      'a subsequence',
      answerOf(PARIS, ROME),
      calls('x {}', PARIS, 'x {}', ROME),
      true,
      { order: 'strict', extra: 'allow' },
    ],
    [
      'no subsequence',
      answerOf(PARIS, ROME),
      calls(ROME, PARIS, PARIS),
      false,
      { order: 'strict', extra: 'allow' },
    ],
    ['more arguments', answerOf(PARIS), calls(PARIS_IN_C), false],
    ['a subset', answerOf(PARIS), calls(PARIS_IN_C), true, { arguments: 'subset' }],
    [
      'a subset inside',
      answerOf('f {"a": [{"b": 1}]}'),
      calls('f {"a": [{"b": 1, "c": 2}]}'),
      true,
      { arguments: 'subset' },
    ],
    ['a shorter list', answerOf('f {"a": [1]}'), calls('f {"a": [1, 2]}'), false, { arguments: 'subset' }],
    ['a null that is not there', answerOf('f {"a": null}'), calls('f {}'), false, { arguments: 'subset' }],
    [
      'a name of every object',
      answerOf('f {"toString": null}'),
      calls('f {}'),
      false,
      { arguments: 'subset' },
    ],
    ['other arguments', answerOf(PARIS), calls(ROME), true, { arguments: 'ignore' }],
    [
      'a subset that the first fit would take away',
      answerOf(PARIS, PARIS_IN_C),
      calls(PARIS_IN_C, PARIS),
      true,
      { arguments: 'subset' },
    ],
  ])('%s', (_name, answer, output, passed, options) => {
    expect(check(answer, output, options)).toMatchObject({ status: 'ok', score: passed ? 1 : 0, passed });
  });

  it.each<[JsonValue, JsonValue, string]>([
    [answerOf(PARIS), 'text', 'Missing get({"city":"Paris"})'],
    [answerOf(PARIS), calls(ROME), 'Missing get({"city":"Paris"}). Extra get({"city":"Rome"})'],
    [
      answerOf(PARIS),
      calls(PARIS, ...Array<string>(5).fill(ROME)),
      'Extra get({"city":"Rome"}), get({"city":"Rome"}), get({"city":"Rome"}) and 2 more',
    ],
    [answerOf(PARIS), calls(PARIS), 'Called get({"city":"Paris"})'],
  ])('says what is missing and extra', (answer, output, explanation) => {
    expect(check(answer, output)).toMatchObject({ explanation });
  });

  it.each<JsonValue>([null, '', 'get', {}, ['get'], [{ arguments: {} }], [{ name: 5 }]])(
    'cannot use the answer %j',
    (answer) => {
      expect(check(answer, calls(PARIS)).status).toBe('unscored');
    },
  );

  it.each([{ order: 'none' }, { arguments: 1 }, { extra: 'deny' }])('rejects the options %j', (options) => {
    expect(() => check(answerOf(PARIS), '', options as JsonObject)).toThrow(/checker\.\w+ must be/);
  });

  it('pairs each call with one other, if any way to do that is there', () => {
    const args = fc
      .subarray(['a', 'b', 'c'])
      .map((names) => JSON.stringify(Object.fromEntries(names.map((one) => [one, 1]))));
    const lists = fc.array(args, { maxLength: 5 });
    const permutations = <T>(values: readonly T[]): T[][] =>
      values.length === 0
        ? [[]]
        : values.flatMap((one, at) => permutations(values.toSpliced(at, 1)).map((rest) => [one, ...rest]));
    fc.assert(
      fc.property(lists, lists, (wanted, given) => {
        const fits = (one: string, other = ''): boolean =>
          Object.keys(JSON.parse(one)).every((name) => other.includes(`"${name}"`));
        const answer = answerOf(...wanted.map((one) => `f ${one}`));
        const output = calls(...given.map((one) => `f ${one}`));
        const isPossible = permutations(given).some((order) =>
          wanted.every((one, at) => at < order.length && fits(one, order[at])),
        );
        expect(check(answer, output, { arguments: 'subset', extra: 'allow' }).passed).toBe(isPossible);
        expect(check(answer, output, { arguments: 'subset' }).passed).toBe(
          isPossible && wanted.length === given.length,
        );
      }),
      { numRuns: 300 },
    );
  });

  it('compares at most 250,000 pairs of calls', () => {
    const many = Array.from({ length: 500 }, (_, at) => `f {"a": ${at % 2}}`);
    const subset = { arguments: 'subset' };
    expect(check(answerOf(...many), calls(...many.toReversed()), subset).passed).toBe(true);
    expect(() => check(answerOf(...many), calls(...many, PARIS), subset)).toThrow(/too many calls/);
  });
});
