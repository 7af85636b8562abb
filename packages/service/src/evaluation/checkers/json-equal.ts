import { canonicalJson, type JsonValue, tryParseJson } from '@svc/jsonl-v23/json';
import { compared } from '../reading/quoted.ts';
import { unfenced } from '../reading/scored-output.ts';
import { checker, NO_ANSWER, passedOrNot, referenceAnswer, UNREADABLE } from './checker.ts';

/** A text is parsed as JSON, without a fenced block of Markdown around it. */
const asJson = (value: JsonValue): JsonValue | undefined =>
  typeof value === 'string' ? tryParseJson(unfenced(value).trim()) : value;

/** Values are compared by their canonical text: neither the order of keys nor the spelling of numbers counts. */
export const JSON_EQUAL = checker({
  name: 'json_equal',
  passes: 'the output is the same JSON value as the answer',
  example: '{"b": 2, "a": 1.0} is right for {"a": 1, "b": 2}',
  options: {},
  isCheap: true,
  expected: (item) => referenceAnswer(item) ?? NO_ANSWER,
  compare(output, answer) {
    const given = asJson(output);
    const isSame = canonicalJson(output) === canonicalJson(answer);
    if (given === undefined && !isSame) return passedOrNot(false, UNREADABLE.json);
    const found = canonicalJson(given ?? output);
    const expected = [answer, asJson(answer)].filter((one) => one !== undefined);
    return passedOrNot(isSame || expected.some((one) => canonicalJson(one) === found), compared(found));
  },
});
