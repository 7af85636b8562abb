import { fitsLetters, letterTargets, type RuleSet, textOf } from './rule-set.ts';

/** The filter of MMLU-Pro in lm-eval: the letter after the first "answer is", with or without a parenthesis. */
export const mmluPro: RuleSet = {
  name: "lm-eval, MMLU-Pro's filter",
  form: '`answer is`',
  fits: (line) =>
    (line.language ?? 'en') === 'en' && !Array.isArray(line.answer) && fitsLetters(line, { most: 10 }),
  hasForm: (line) => textOf(line).includes('answer is'),
  passes: (line) => letterTargets(line)?.[0] === /answer is \(?([A-J])/.exec(textOf(line))?.[1],
};
