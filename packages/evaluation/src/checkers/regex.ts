import { RE2JS } from 're2js';
import { excerpt, plainText } from '../item/plain-text.ts';
import { RunError } from '../run-error.ts';
import {
  booleanOption,
  type Checker,
  NO_ANSWER,
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
export const regex: Checker = ({ output, item, options }) => {
  const answer = referenceAnswer(item);
  const pattern = stringOption(options, 'pattern') ?? (typeof answer === 'string' ? answer : undefined);
  if (pattern === undefined) return NO_ANSWER;
  const compiled = compile(pattern, stringOption(options, 'flags') ?? '');
  const text = plainText(output);
  if (compiled.programSize() * text.length > MAX_STEPS) {
    throw new RunError(
      'checker_limit',
      `The pattern is too large for an output of ${text.length} characters.`,
    );
  }
  return passedOrNot(
    booleanOption(options, 'full_match', false) ? compiled.testExact(text) : compiled.test(text),
  );
};

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
