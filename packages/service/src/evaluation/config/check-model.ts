import { isForbiddenAddress } from '@svc/hub-client/egress';
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { stringOption } from '../checkers/checker.ts';
import { CHECKER_DOCS, CHECKERS, JUDGE } from '../checkers/checkers.ts';
import { templateProblem } from '../item/prompt-template.ts';
import { RunError } from '../run-error.ts';
import { type ConfigProblems, membersOf, type Steps } from './config-problems.ts';
import { MAIN_SCORER } from './run-config.ts';

/** Members of the request body that the service sets. */
const RESERVED_PARAMS: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'stream_options', 'n']);

const HEADER_NAME = /^(?:anthropic|openai|x)-[a-z0-9-]{1,100}$/i;
/** Visible ASCII with single blanks. */
const HEADER_VALUE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;
/** Names that Azure and others send keys under, besides the names that `findSecrets` knows. */
const SECRET_QUERY = /^(?:key|sig|signature|code|subscription-key|ocp-apim-subscription-key)$/i;

/**
 * Checks what a schema cannot express: the URL of a model, its query and headers, and the names and texts of its
 * `params`.
 */
export function checkModel(
  model: JsonObject,
  at: Steps,
  maxTextChars: number,
  problems: ConfigProblems,
): void {
  const url = model['base_url'];
  if (typeof url === 'string' && /^https?:\/\//.test(url)) {
    const problem = urlProblem(url);
    if (problem !== undefined) problems.add(problem, [...at, 'base_url']);
    if (model['type'] === 'anthropic' && /\/v1\/*$/.test(url)) {
      problems.add('must not end in /v1: the service appends /v1/messages', [...at, 'base_url']);
    }
  }
  if (model['type'] === 'anthropic') {
    for (const member of ['auth', 'query']) {
      if (model[member] !== undefined) problems.add('is not for anthropic', [...at, member]);
    }
  }
  checkHeaders(model['extra_headers'], at, problems);
  for (const key of namesOf(model['query'])) {
    if (SECRET_QUERY.test(key)) problems.add(SECRET, [...at, 'query', key]);
  }
  const { params } = model;
  const isAnthropic = model['type'] === 'anthropic';
  for (const param of namesOf(params)) {
    if (problems.isFull) return;
    if (RESERVED_PARAMS.has(param) || (isAnthropic && param === 'system')) {
      problems.add('must not be set: the service sets it', [...at, 'params', param]);
    }
  }
  checkTexts(params, maxTextChars, problems, [...at, 'params']);
}

export const SECRET = 'must not be sent: set keys as environment variables of the workers (`api_key_env`)';

const namesOf = (value: JsonValue | undefined): string[] => (isJsonObject(value) ? Object.keys(value) : []);

function checkHeaders(headers: JsonValue | undefined, at: Steps, problems: ConfigProblems): void {
  if (!isJsonObject(headers)) return;
  for (const [key, value] of Object.entries(headers)) {
    if (problems.isFull) return;
    const steps = [...at, 'extra_headers', key];
    if (!HEADER_NAME.test(key)) {
      problems.add('must be a header whose name begins with `anthropic-`, `openai-` or `x-`', steps);
    } else if (typeof value === 'string' && !HEADER_VALUE.test(value)) {
      problems.add('must be visible ASCII characters with single blanks', steps);
    }
  }
}

function urlProblem(url: string): string | undefined {
  if (!URL.canParse(url)) return 'must be a URL';
  const { username, password, search, hash, hostname } = new URL(url);
  if (username !== '' || password !== '' || search !== '' || hash !== '') {
    return 'must have no user info, query or fragment';
  }
  return isForbiddenAddress(hostname) ? 'must not be a link-local address or a metadata service' : undefined;
}

/** @param steps location of the value; changed during the check */
function checkTexts(
  value: JsonValue | undefined,
  maxChars: number,
  problems: ConfigProblems,
  steps: (string | number)[],
): void {
  if (typeof value === 'string' && value.length > maxChars) {
    problems.add(`must have at most ${maxChars} characters, got ${value.length}`, steps);
  }
  for (const [name, member] of membersOf(value)) {
    if (problems.isFull) return;
    if (typeof name === 'string' && name.length > maxChars) {
      problems.add(`must have names of at most ${maxChars} characters`, steps);
    } else {
      steps.push(name);
      checkTexts(member, maxChars, problems, steps);
      steps.pop();
    }
  }
}

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
    // A pattern is compiled by the workers, on a thread.
    if (declared === JUDGE) stringOption(checker, 'judge_prompt');
    else CHECKERS.get(declared.name)?.readOptions(checker);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    problems.add(`is invalid: ${error.message.replace(/\.$/, '')}`, steps);
  }
}
