import { type CheckerDocs, option } from './declaration.ts';

/** The checker that asks a model: see `judgeQuestion`. */
export const JUDGE: CheckerDocs = {
  name: 'judge',
  passes: 'the judge of the run says so; its score is stored',
  example: 'another model decides, such as whether a summary is faithful',
  options: { judge_prompt: option('string', 'where `meta.judge_prompt` is absent') },
};
