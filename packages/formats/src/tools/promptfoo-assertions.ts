import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { Place } from '../lost.ts';
import { memberOf, textOf } from '../read-json.ts';

/** The checkers that compare with an answer as assertions do. */
const CHECKERS: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['equals', { type: 'exact_match', trim: false }],
  ['contains', { type: 'includes' }],
  ['icontains', { type: 'includes', ignore_case: true }],
  ['contains-any', { type: 'includes' }],
  ['icontains-any', { type: 'includes', ignore_case: true }],
  ['contains-all', { type: 'includes', all: true }],
  ['icontains-all', { type: 'includes', all: true, ignore_case: true }],
]);

const RUBRICS: ReadonlySet<string> = new Set(['llm-rubric', 'g-eval', 'model-graded-closedqa']);

/** Answer, checker and criteria of an item; counts assertions without an equivalent. @param vars that render their values */
export function checkOf(assertions: readonly JsonValue[], vars: JsonObject, place: Place): JsonObject {
  const check: JsonObject = {};
  const criteria: string[] = [];
  for (const assertion of assertions) {
    const type = textOf(memberOf(assertion, 'type')) ?? 'unknown';
    const checker = CHECKERS.get(type);
    const value = renderedValue(listed(type, memberOf(assertion, 'value')), vars);
    if (value === undefined) {
      place.lost(`assertion ${type} with a template`);
      continue;
    }
    if (RUBRICS.has(type) && typeof value === 'string') criteria.push(value);
    else if (check['checker'] !== undefined) place.lost(`further assertion ${type}`);
    else if (checker !== undefined && isComparable(value)) Object.assign(check, { answer: value, checker });
    else if (type === 'regex' && typeof value === 'string')
      check['checker'] = { type: 'regex', pattern: value };
    else place.lost(`assertion ${type}`);
  }
  return { ...check, ...(criteria.length === 0 ? {} : { criteria }) };
}

/** Assertions about several texts take them in one text, too. */
function listed(type: string, value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/-(?:any|all)$/.test(type) || value.startsWith('file://')) return value;
  return value.split(',').map((one) => one.trim());
}

/** A value with its templates rendered; undefined if one is more than a variable. */
function renderedValue(value: JsonValue, vars: JsonObject): JsonValue | undefined {
  if (typeof value === 'string') return rendered(value, vars);
  if (!Array.isArray(value)) return value;
  const elements = value.map((one) => (typeof one === 'string' ? rendered(one, vars) : one));
  return elements.includes(undefined) ? undefined : (elements as JsonValue[]);
}

/** What a template consists of: texts, variables by their names, texts in quotes, and blocks that are no template. */
const PIECE =
  /\{\{-?\s*(?:([A-Za-z_]\w*)|"([^"\\{}%#]*[{%#]*)"|'([^'\\{}%#]*[{%#]*)')\s*-?\}\}|\{%-?\s*raw\s*-?%\}([\s\S]*?)\{%-?\s*endraw\s*-?%\}|\{(?![{%#])|[^{]+|\{/gy;

/** A text as promptfoo renders it with the variables of a test; undefined if that takes more than their values. */
function rendered(text: string, vars: JsonObject): string | undefined {
  if (!/\{[{%#]/.test(text)) return text;
  let result = '';
  for (const match of text.matchAll(PIECE)) {
    const [piece, name, double, single, raw] = match;
    if (name !== undefined) {
      const value = memberOf(vars, name);
      const found = typeof value === 'number' || typeof value === 'boolean' ? String(value) : textOf(value);
      if (found === null || /\{[{%#]/.test(found) || found.startsWith('file://')) return undefined;
      result += found;
    } else if (piece === '{' && '{%#'.includes(text[match.index + 1] ?? ' ')) return undefined;
    else result += double ?? single ?? raw ?? piece;
  }
  return result;
}

/** Whether a value is compared, and neither read from a file nor executed. */
function isComparable(value: JsonValue): boolean {
  if (typeof value === 'string') return !value.startsWith('file://');
  return value !== null && !isJsonObject(value);
}

export function assertionsOf(
  item: JsonObject,
  literal: (text: string) => string,
  place: Place,
): JsonObject[] {
  const { answer = null, checker: stated = null, criteria = null, type = null } = item;
  const checker = typeof stated === 'string' ? stated : (textOf(memberOf(stated, 'type')) ?? textOf(type));
  const assertions: JsonObject[] = [];
  const text = (value: JsonValue): string =>
    literal(typeof value === 'string' ? value : canonicalJson(value));
  const folds = memberOf(stated, 'ignore_case') === true;
  const answers = (Array.isArray(answer) ? answer : [answer]).filter((one) => one !== null);
  if (checker === 'includes' && answers.length > 0) {
    const name = `${folds ? 'i' : ''}contains`;
    const several = memberOf(stated, 'all') === true ? 'all' : 'any';
    assertions.push(
      answers.length === 1
        ? { type: name, value: text(answers[0] ?? null) }
        : { type: `${name}-${several}`, value: answers.map(text) },
    );
  } else if (checker === 'regex' && typeof memberOf(stated, 'pattern') === 'string') {
    assertions.push({ type: 'regex', value: text(memberOf(stated, 'pattern')) });
  } else if (answers.length === 1) {
    if (checker !== null && checker !== 'exact_match' && checker !== 'exact')
      place.lost(`checker ${checker}`);
    assertions.push({ type: 'equals', value: text(answers[0] ?? null) });
  } else if (answers.length > 1) place.lost('several answers');
  for (const one of Array.isArray(criteria) ? criteria : []) {
    assertions.push({ type: 'llm-rubric', value: text(one) });
  }
  return assertions;
}
