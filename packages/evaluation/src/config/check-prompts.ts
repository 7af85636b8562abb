import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { booleanOption, stringOption } from '../checkers/checker.ts';
import { CHECKER_DOCS, CHECKERS } from '../checkers/checkers.ts';
import { templateProblem } from '../item/prompt-template.ts';
import { RunError } from '../run-error.ts';
import type { ConfigProblems } from './config-problems.ts';
import { MAIN_SCORER } from './run-config.ts';

/** Checks the run's prompts and its checker. @param maxTextChars characters of one prompt */
export function checkPrompts(config: JsonObject, maxTextChars: number, problems: ConfigProblems): void {
  for (const name of ['system_prompt', 'prompt_template']) {
    const text = config[name];
    if (typeof text === 'string' && text.length > maxTextChars) {
      problems.add(`must have at most ${maxTextChars} characters, got ${text.length}`, [name]);
    }
  }
  const template = config['prompt_template'];
  const problem = typeof template === 'string' ? templateProblem(template) : undefined;
  if (problem !== undefined) problems.add(problem, ['prompt_template']);
  if (config['checker'] !== undefined) checkChecker(config['checker'], ['checker'], problems);
  else if (config['checker_mode'] !== undefined) problems.add('needs a checker', ['checker_mode']);
  checkScorers(config, problems);
}

/** Checks several scorers: unique names, and a checker or a judge each. */
function checkScorers(config: JsonObject, problems: ConfigProblems): void {
  const { scorers = null } = config;
  for (const name of scorers === null ? [] : ['checker', 'judge']) {
    if (config[name] !== undefined) problems.add('must be absent with `scorers`', [name]);
  }
  const names = new Set<JsonValue>(scorers === null ? [MAIN_SCORER] : []);
  for (const member of ['scorers', 'added_scorers']) {
    const all = config[member];
    for (const [index, scorer] of (Array.isArray(all) ? all.slice(0, 16) : []).entries()) {
      if (!isJsonObject(scorer)) continue;
      const { name = null, checker, judge } = scorer;
      if (names.has(name)) problems.add('must be unique', [member, index, 'name']);
      names.add(name);
      if (checker === undefined) continue;
      const at = [member, index, 'checker'];
      if (judge !== undefined) problems.add('must be absent with a judge', at);
      const type = isJsonObject(checker) ? checker['type'] : checker;
      if (type === 'judge') problems.add('must not be judge: state `judge`', at);
      else checkChecker(checker, at, problems);
    }
  }
}

/** Checks a checker: the service must know its type, and its options must be valid. */
function checkChecker(checker: JsonValue, steps: (string | number)[], problems: ConfigProblems): void {
  const type = isJsonObject(checker) ? checker['type'] : checker;
  const declared = CHECKER_DOCS.find(({ name }) => name === type);
  if (declared === undefined) {
    problems.add(
      `must be a checker of type ${CHECKER_DOCS.map(({ name }) => name).join(', ')}`,
      isJsonObject(checker) ? [...steps, 'type'] : steps,
    );
    return;
  }
  if (!isJsonObject(checker)) return;
  try {
    for (const [name, { type: types }] of Object.entries(declared.options)) {
      if (types[0] === 'boolean') booleanOption(checker, name, false);
      if (types[0] === 'string') stringOption(checker, name);
    }
    // A pattern is compiled by the workers, on a thread.
    if (declared.name !== 'regex') {
      CHECKERS.get(declared.name)?.check({
        output: '1',
        item: { answer: '1', inputs: { choices: ['1'] } },
        options: checker,
      });
    }
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    problems.add(`is invalid: ${error.message.replace(/\.$/, '')}`, steps);
  }
}
