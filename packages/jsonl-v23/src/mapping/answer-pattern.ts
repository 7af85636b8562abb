import { RE2JS } from 're2js';
import { JsonlError } from '../errors.ts';
import { MAX_PATTERN_LENGTH } from './mapping.ts';

/** Instructions of a pattern, in which repetitions such as `{1000}` are written out. */
const MAX_PROGRAM_SIZE = 2_000;
/** Instructions times characters of the answer: about a second on a slow machine in the worst case. */
const MAX_PATTERN_STEPS = 20_000_000;

/** The first group in a text, or null. @throws JsonlError `invalid_row` for a text that is too long for the pattern */
export type AnswerPattern = (text: string, row: number) => string | null;

/** Compiles an untrusted pattern: its engine has linear time, but no look-around and no back-references. */
export function compileAnswerPattern(pattern: string, maxSteps: number = MAX_PATTERN_STEPS): AnswerPattern {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw invalid(`must have at most ${MAX_PATTERN_LENGTH} characters, got ${pattern.length}`);
  }
  const compiled = compile(pattern);
  const programSize = compiled.programSize();
  if (compiled.groupCount() === 0) throw invalid('must have a group, such as "####\\s*(\\S+)"');
  if (programSize > MAX_PROGRAM_SIZE) throw invalid('repeats too much');
  return (text, row) => {
    if (programSize * text.length > maxSteps) {
      const message = `The answer has ${text.length} characters, too many for the pattern, in dataset row ${row}`;
      throw new JsonlError('invalid_row', message, { row });
    }
    const matcher = compiled.matcher(text);
    return matcher.find() ? matcher.group(1) : null;
  };
}

function compile(pattern: string): RE2JS {
  // The engine would treat a named back-reference as plain letters.
  if (/\\k</.test(pattern.replace(/\\\\/g, ''))) throw invalid('must not have back-references');
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'syntax';
    throw invalid(`cannot be used: ${reason}`, error);
  }
}

function invalid(problem: string, cause?: unknown): JsonlError {
  return new JsonlError(
    'invalid_mapping',
    `answer_pattern ${problem}`,
    { path: '/mapping/answer_pattern' },
    { cause },
  );
}
