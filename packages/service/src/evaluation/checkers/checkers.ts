import { type CheckerDeclaration, type CheckerDocs, optionSchema } from './checker.ts';
import { CHOICE } from './choice.ts';
import { NUMERIC } from './numeric.ts';
import { REGEX } from './regex.ts';
import { TOOL_CALLS } from './tool-calls.ts';
import { EXACT_MATCH, INCLUDES, JSON_EQUAL } from './whole-output.ts';

/** The checker that asks a model: see `judgeQuestion`. */
export const JUDGE: CheckerDocs = {
  name: 'judge',
  passes: 'the judge of the run says so; its score is stored',
  example: 'another model decides, such as whether a summary is faithful',
  options: { judge_prompt: optionSchema('string', 'where `meta.judge_prompt` is absent') },
};

/** The checkers, in the order in which they are shown. A new one is a file and a row. */
const DECLARATIONS: readonly CheckerDeclaration[] = [
  EXACT_MATCH,
  INCLUDES,
  REGEX,
  NUMERIC,
  CHOICE,
  JSON_EQUAL,
  TOOL_CALLS,
];

/** The checkers by `checker.type`, except `judge`, which asks a model. */
export const CHECKERS: ReadonlyMap<string, CheckerDeclaration> = new Map(
  DECLARATIONS.map((one) => [one.name, one]),
);

/** The values of `checker.type`, the judge last. */
export const CHECKER_DOCS: readonly CheckerDocs[] = [...DECLARATIONS, JUDGE];
