import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ConfigProblems } from './config-problems.ts';
import { isForbiddenAddress } from './is-forbidden-address.ts';
import { membersOf } from './members-of.ts';

/** Members of the request body that the service sets. */
const RESERVED_PARAMS: ReadonlySet<string> = new Set(['model', 'messages', 'stream', 'stream_options', 'n']);

/**
 * Checks what a schema cannot express: the URL of a model, and the names and texts of its `params`.
 *
 * @param name `provider` or `judge`
 * @param maxTextChars characters of one text or name in `params`
 */
export function checkModel(
  model: JsonObject,
  name: string,
  maxTextChars: number,
  problems: ConfigProblems,
): void {
  const url = model['base_url'];
  if (typeof url === 'string' && /^https?:\/\//.test(url)) {
    const problem = urlProblem(url);
    if (problem !== undefined) problems.add(problem, [name, 'base_url']);
  }
  const params = model['params'];
  if (!isJsonObject(params)) {
    checkTexts(params, maxTextChars, problems, [name, 'params']);
    return;
  }
  for (const param of Object.keys(params)) {
    if (problems.isFull) return;
    if (RESERVED_PARAMS.has(param)) {
      problems.add('must not be set: the service sets it', [name, 'params', param]);
    }
  }
  checkTexts(params, maxTextChars, problems, [name, 'params']);
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
