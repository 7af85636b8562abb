import { canonicalJson } from '@svc/jsonl-v23/json';
import { RE2JS } from 're2js';
import { excerpt, plainText } from '../item/canonical-text.ts';
import { quoted } from '../reading/quoted.ts';
import { RunError } from '../run-error.ts';
import {
  type CheckerDeclaration,
  checker,
  flag,
  NO_ANSWER,
  passedOrNot,
  referenceAnswer,
  text,
} from './checker.ts';

/** A longer pattern is probably a mistake or an attack. */
const MAX_PATTERN_CHARS = 2_000;
/** Program size times characters of the output: about a second on a slow machine in the worst case. */
const MAX_STEPS = 20_000_000;

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

/**
 * Patterns are untrusted input: they run on an engine with linear time, which supports JavaScript's syntax without
 * look-around and back-references.
 */
const COMPILED = checker({
  name: 'regex',
  passes: 'the pattern matches anywhere in the output',
  example: '“Order id-42” is right for the pattern id-\\d+',
  options: {
    pattern: text('by default the answer'),
    flags: text('`i`, `m`, `s` and `u`'),
    full_match: flag('whether the pattern must match the whole output', false),
  },
  isCheap: false,
  expected(item, { pattern, flags = '' }) {
    const stated = pattern ?? referenceAnswer(item);
    return typeof stated === 'string' ? compile(stated, flags) : NO_ANSWER;
  },
  compare(output, compiled, { full_match: isWhole }) {
    const given = plainText(output);
    if (compiled.programSize() * given.length > MAX_STEPS) {
      throw new RunError(
        'checker_limit',
        `The pattern is too large for an output of ${given.length} characters.`,
      );
    }
    const matcher = compiled.matcher(given);
    const isMatch = isWhole ? matcher.matches() : matcher.find();
    return passedOrNot(
      isMatch,
      isMatch ? `Matched ${excerpt(quoted(given, matcher.start(), matcher.end()))}` : 'No match',
    );
  },
});

export const REGEX: CheckerDeclaration = {
  ...COMPILED,
  unscorableReason(item, options, once) {
    const pattern = options['pattern'] ?? referenceAnswer(item);
    const decide = () => {
      try {
        return COMPILED.unscorableReason(item, options, once);
      } catch (error) {
        if (error instanceof RunError) return 'invalid_pattern';
        throw error;
      }
    };
    return typeof pattern === 'string'
      ? once(canonicalJson([pattern, options['flags'] ?? null, options['full_match'] ?? null]), decide)
      : decide();
  },
};
