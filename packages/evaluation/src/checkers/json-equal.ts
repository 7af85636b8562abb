import { tryParseJson } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { compared } from '../reading/quoted.ts';
import { unfenced } from '../reading/scored-output.ts';
import {
  type Checker,
  type CheckerDeclaration,
  NO_ANSWER,
  passedOrNot,
  referenceAnswer,
  UNREADABLE,
} from './checker.ts';

/**
 * `json_equal`: the output and the answer are the same JSON value by their canonical text: neither the order of keys nor
 * the spelling of numbers counts. A text is parsed as JSON, without a fenced block of Markdown around it. No options.
 */
const jsonEqual: Checker = ({ output, item }) => {
  const answer = referenceAnswer(item);
  if (answer === undefined) return NO_ANSWER;
  const given = asJson(output);
  if (given === undefined && canonicalJson(output) !== canonicalJson(answer)) {
    return passedOrNot(false, UNREADABLE.json);
  }
  const found = canonicalJson(given ?? output);
  const expected = [answer, asJson(answer)].filter((one) => one !== undefined);
  const isRight =
    expected.some((one) => canonicalJson(one) === found) || canonicalJson(output) === canonicalJson(answer);
  return passedOrNot(isRight, compared(found));
};

const asJson = (value: JsonValue): JsonValue | undefined =>
  typeof value === 'string' ? tryParseJson(unfenced(value).trim()) : value;

export const JSON_EQUAL: CheckerDeclaration = {
  name: 'json_equal',
  passes: 'the output is the same JSON value as the answer',
  example: '{"b": 2, "a": 1.0} is right for {"a": 1, "b": 2}',
  options: {},
  check: jsonEqual,
  isCheap: true,
  unscorableReason: (item) => (referenceAnswer(item) === undefined ? 'no_answer' : null),
};
