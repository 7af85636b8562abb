import type { Item } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { RE2JS } from 're2js';
import { excerpt, plainText } from '../item/canonical-text.ts';
import { quoted } from '../reading/quoted.ts';
import { RunError } from '../run-error.ts';
import {
  booleanOption,
  type Checker,
  type CheckerDeclaration,
  NO_ANSWER,
  option,
  passedOrNot,
  referenceAnswer,
  stringOption,
} from './checker.ts';

/** A longer pattern is probably a mistake or an attack. */
const MAX_PATTERN_CHARS = 2_000;
/** Program size times characters of the output: about a second on a slow machine in the worst case. */
const MAX_STEPS = 20_000_000;

/**
 * `regex`: the pattern matches somewhere in the output.
 * Options: `pattern` (else `answer`, a string), `flags` (of `i`, `m`, `s`, `u`, as in JavaScript),
 * `full_match` (false).
 *
 * Patterns are untrusted input: they run on an engine with linear time, which supports JavaScript's syntax without
 * look-around and back-references.
 */
const regex: Checker = ({ output, item, options }) => {
  const pattern = patternOf(item, options);
  if (pattern === undefined) return NO_ANSWER;
  const compiled = compile(pattern, stringOption(options, 'flags') ?? '');
  const text = plainText(output);
  if (compiled.programSize() * text.length > MAX_STEPS) {
    throw new RunError(
      'checker_limit',
      `The pattern is too large for an output of ${text.length} characters.`,
    );
  }
  const isWhole = booleanOption(options, 'full_match', false);
  const matcher = compiled.matcher(text);
  const isMatch = isWhole ? matcher.matches() : matcher.find();
  return passedOrNot(
    isMatch,
    isMatch ? `Matched ${excerpt(quoted(text, matcher.start(), matcher.end()))}` : 'No match',
  );
};

/** The pattern of an item; undefined without one. @throws RunError `checker_invalid` */
function patternOf(item: Item, options: JsonObject): string | undefined {
  const answer = referenceAnswer(item);
  return stringOption(options, 'pattern') ?? (typeof answer === 'string' ? answer : undefined);
}

function compile(pattern: string, flags: string): RE2JS {
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new RunError(
      'checker_invalid',
      `The pattern must have at most ${MAX_PATTERN_CHARS} characters, got ${pattern.length}.`,
    );
  }
  let engineFlags = 0;
  for (const flag of flags) {
    if (flag === 'i') engineFlags |= RE2JS.CASE_INSENSITIVE;
    else if (flag === 'm') engineFlags |= RE2JS.MULTILINE;
    else if (flag === 's') engineFlags |= RE2JS.DOTALL;
    else if (flag !== 'u' && flag !== 'g') {
      throw new RunError('checker_invalid', `checker.flags must contain only i, m, s and u, got "${flag}".`);
    }
  }
  // The engine would treat a named back-reference as plain letters.
  if (/(^|[^\\])(\\\\)*\\k</.test(pattern)) throw unsupported(pattern, 'back-references are not supported');
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern), engineFlags);
  } catch (error) {
    throw unsupported(
      pattern,
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'syntax',
      error,
    );
  }
}

function unsupported(pattern: string, reason: string, cause?: unknown): RunError {
  return new RunError('checker_invalid', `Cannot use the pattern ${excerpt(pattern)}: ${reason}.`, { cause });
}

export const REGEX: CheckerDeclaration = {
  name: 'regex',
  passes: 'the pattern matches anywhere in the output',
  example: '“Order id-42” is right for the pattern id-\\d+',
  options: {
    pattern: option('string', 'by default the answer'),
    flags: option('string', '`i`, `m`, `s` and `u`'),
    full_match: option('boolean', 'whether the pattern must match the whole output', { default: false }),
  },
  check: regex,
  isCheap: false,
  unscorableReason: (item, options, once) => {
    try {
      const pattern = patternOf(item, options);
      if (pattern === undefined) return 'no_answer';
      const flags = stringOption(options, 'flags') ?? '';
      return once(JSON.stringify([pattern, flags]), () => {
        try {
          compile(pattern, flags);
          return null;
        } catch (error) {
          if (error instanceof RunError) return 'invalid_pattern';
          throw error;
        }
      });
    } catch (error) {
      if (error instanceof RunError) return 'invalid_pattern';
      throw error;
    }
  },
};
