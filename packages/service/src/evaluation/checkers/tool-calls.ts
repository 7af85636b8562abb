import {
  canonicalJson,
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonValue,
  tryParseJson,
} from '@svc/jsonl-v23/json';
import { checkerLimit } from '../check-limits.ts';
import { checker, NO_ANSWER, oneOf, passedOrNot, referenceAnswer } from './checker.ts';

/** Calls of the answer times calls of the output: each pair may be compared. */
const MAX_PAIRS = 250_000;
/** Calls that an explanation names, and characters that it quotes of the arguments of each. */
const MAX_NAMED_CALLS = 3;
const MAX_NAMED_CHARS = 120;

interface ToolCall {
  /** Null if an element of an output is no call. */
  readonly name: string | null;
  /** An absent or empty value is an empty object; a text that is not JSON stays a text. */
  readonly args: JsonValue;
}

/** Whether a call of an output is one that the answer asks for. */
type IsMeant = (expected: ToolCall, given: ToolCall) => boolean;

function callsOf(value: JsonValue | undefined): readonly ToolCall[] | undefined {
  const listed = isJsonObject(value) ? getMember(value, 'tool_calls') : value;
  return Array.isArray(listed) ? listed.map(callOf) : undefined;
}

/**
 * A call as answers state it, as chat completions have it (`function`, with its arguments as text), or as the Messages API
 * has it (`input`).
 */
function callOf(value: JsonValue): ToolCall {
  const wrapped = isJsonObject(value) ? getMember(value, 'function') : undefined;
  const call = isJsonObject(wrapped) ? wrapped : value;
  const name = isJsonObject(call) ? getMember(call, 'name') : undefined;
  if (!isJsonObject(call) || typeof name !== 'string') return { name: null, args: value };
  return { name, args: argumentsOf(getMember(call, 'arguments') ?? getMember(call, 'input') ?? '') };
}

function argumentsOf(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  const parsed = value.trim() === '' ? {} : tryParseJson(value);
  return parsed === undefined ? value : parsed;
}

const isSameTool: IsMeant = (expected, given) => expected.name === given.name;

const MEANT: Readonly<Record<'equal' | 'subset' | 'ignore', IsMeant>> = {
  equal: (expected, given) => isSameTool(expected, given) && isEqual(expected.args, given.args),
  subset: (expected, given) => isSameTool(expected, given) && contains(given.args, expected.args),
  ignore: isSameTool,
};

function isEqual(one: JsonValue, other: JsonValue): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Whether a value has the members that another one names; lists have to be equally long. */
function contains(value: JsonValue, wanted: JsonValue): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((one, index) => contains(value[index] ?? null, one))
    );
  }
  if (!isJsonObject(wanted) || wanted instanceof ExactNumber) return isEqual(value, wanted);
  return (
    isJsonObject(value) &&
    Object.entries(wanted).every(([name, member]) => {
      const given = getMember(value, name);
      return given !== undefined && contains(given, member);
    })
  );
}

/**
 * Pairs as many calls as possible, each with one other (Kuhn's algorithm). Taking the first match would not do: several
 * expected calls may mean a call, and one of them may fit no other.
 */
function unmatched(
  expected: readonly ToolCall[],
  given: readonly ToolCall[],
  isMeant: IsMeant,
): { readonly missing: readonly ToolCall[]; readonly extra: readonly ToolCall[] } {
  const fitting = expected.map((one) => given.flatMap((other, at) => (isMeant(one, other) ? [at] : [])));
  /** For each given call, the index of the expected call that it is paired with. */
  const pairs = new Map<number, number>();
  const isPaired = (index: number, tried: Set<number>): boolean =>
    (fitting[index] ?? []).some((at) => {
      if (tried.has(at)) return false;
      tried.add(at);
      const before = pairs.get(at);
      if (before !== undefined && !isPaired(before, tried)) return false;
      pairs.set(at, index);
      return true;
    });
  const missing = expected.filter((_, index) => !isPaired(index, new Set()));
  return { missing, extra: given.filter((_, at) => !pairs.has(at)) };
}

function isSubsequence(expected: readonly ToolCall[], given: readonly ToolCall[], isMeant: IsMeant): boolean {
  let found = 0;
  for (const call of given) {
    const next = expected[found];
    if (next !== undefined && isMeant(next, call)) found += 1;
  }
  return found === expected.length;
}

function named(calls: readonly ToolCall[]): string {
  const texts = calls.slice(0, MAX_NAMED_CALLS).map(({ name, args }) => {
    const text = canonicalJson(args);
    const shown = text.length > MAX_NAMED_CHARS ? `${text.slice(0, MAX_NAMED_CHARS)}…` : text;
    return name === null ? shown : `${name.slice(0, MAX_NAMED_CHARS)}(${shown})`;
  });
  const more = calls.length - texts.length;
  return `${texts.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * An output without calls has none; an empty list as the answer asks for that. With `subset`, members that the answer names
 * have to be there, at any depth.
 */
export const TOOL_CALLS = checker({
  name: 'tool_calls',
  passes: 'the output calls the tools that the answer lists as `{name, arguments}`; ids do not count',
  example:
    'a call of get with {"city": "Paris"} is right for [{"name": "get", "arguments": {"city": "Paris"}}]',
  options: {
    order: oneOf(['any', 'strict'], 'whether the order of the answer counts'),
    arguments: oneOf(
      ['equal', 'subset', 'ignore'],
      'how arguments are compared; `subset`: those that the answer names',
    ),
    extra: oneOf(['fail', 'allow'], 'whether further calls fail'),
  },
  isCheap: false,
  expected(item) {
    const calls = callsOf(referenceAnswer(item));
    return calls?.every(({ name }) => name !== null) ? calls : NO_ANSWER;
  },
  compare(output, expected, { order, arguments: how, extra: others }) {
    const isMeant = MEANT[how];
    const given = callsOf(output) ?? [];
    if (expected.length * given.length > MAX_PAIRS) {
      throw checkerLimit(
        `The answer and the output have too many calls (${expected.length} and ${given.length}) to compare each with each.`,
      );
    }
    const { missing, extra } = unmatched(expected, given, isMeant);
    const problems = [
      ...(missing.length === 0 ? [] : [`Missing ${named(missing)}`]),
      ...(extra.length === 0 || others === 'allow' ? [] : [`Extra ${named(extra)}`]),
    ];
    if (problems.length > 0) return passedOrNot(false, problems.join('. '));
    if (order === 'strict' && !isSubsequence(expected, given, isMeant)) {
      return passedOrNot(false, `Another order: ${named(given)}`);
    }
    return passedOrNot(true, given.length === 0 ? 'No calls' : `Called ${named(given)}`);
  },
});
