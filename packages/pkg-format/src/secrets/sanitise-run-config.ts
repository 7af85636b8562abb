import {
  canonicalJson,
  ExactNumber,
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import { createNamer, type KnownSecrets, REDACTED, replaceSecrets, spellingsOf } from './redactor.ts';
import { isSecretName, words } from './secret-names.ts';
import { redactSecretForms } from './secret-texts.ts';

/**
 * Removes secrets from a run's configuration: keys, tokens, passwords, authorization headers, cookies and the user-info
 * of URLs, at any depth.
 *
 * It removes members with the name of a secret, and name and value pairs in any of the forms in which headers and
 * environments are written. In texts it replaces what looks like a secret and every known secret by `[redacted]`, also
 * in member names, in JSON inside a string, and base64- or percent-encoded.
 *
 * It keeps a name such as `api_key_env` with the name of a worker's `SVC_PROVIDER_...` variable, which is not a secret
 * and which you need to repeat the run, and numbers under names such as `max_tokens`.
 *
 * @param secrets known to the process; one of fewer than four characters is replaced only if it is the whole text
 */
export function sanitiseRunConfig(config: JsonObject, secrets: readonly string[] = []): JsonObject {
  return sanitiseObject(config, spellingsOf(secrets));
}

function sanitiseValue(value: JsonValue, secrets: KnownSecrets): JsonValue {
  if (typeof value === 'string') return sanitiseText(value, secrets);
  if (Array.isArray(value)) {
    return value.filter((member) => !isSecretPair(member)).map((member) => sanitiseValue(member, secrets));
  }
  if (isJsonObject(value)) return sanitiseObject(value, secrets);
  if (typeof value === 'number' || value instanceof ExactNumber) {
    return secrets.whole.has(String(value)) ? REDACTED : value;
  }
  return value;
}

function sanitiseObject(object: JsonObject, secrets: KnownSecrets): JsonObject {
  const result: JsonObject = {};
  const uniqueName = createNamer(result);
  const pairedValues = secretPairValues(object);
  for (const [key, value] of Object.entries(object)) {
    if (pairedValues.has(key) || isSecretMember(key, value)) continue;
    setMember(result, uniqueName(sanitiseText(key, secrets)), sanitiseValue(value, secrets));
  }
  return result;
}

function isSecretMember(name: string, value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || typeof value === 'boolean' || !isSecretName(name))
    return false;
  if (typeof value === 'string' && isVariableName(name, value)) return false;
  // A number under "tokens" is a count; under "password" it may well be a password.
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  return !(isNumber && words(name).at(-1) === 'tokens');
}

/** A configuration names the variable that holds the key, and never the key. */
function isVariableName(name: string, value: string): boolean {
  return words(name).at(-1) === 'env' && /^SVC_PROVIDER_[A-Z0-9_]{1,100}$/.test(value);
}

const PAIR_NAMES = ['name', 'key', 'header', 'field', 'variable', 'param', 'k'];
const PAIR_VALUES = ['value', 'val', 'values', 'content', 'v'];

/** `["Authorization", "..."]`, `{"name": "Cookie", "value": "..."}`, `"X-Api-Key: ..."` as elements of an array. */
function isSecretPair(member: JsonValue): boolean {
  if (typeof member === 'string') return isSecretLine(member);
  if (Array.isArray(member)) {
    return member.length === 2 && typeof member[0] === 'string' && isSecretMember(member[0], member[1]);
  }
  return isJsonObject(member) && secretPairValues(member).size > 0;
}

/** The members with the value of a name and value pair, if its name says that the value is a secret. */
function secretPairValues(object: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  const keys = new Map(Object.keys(object).map((key) => [key.toLowerCase(), key]));
  const values = PAIR_VALUES.map((key) => keys.get(key)).filter((key) => key !== undefined);
  if (values.length === 0) return found;
  for (const nameKey of PAIR_NAMES) {
    const key = keys.get(nameKey);
    const name = key === undefined ? undefined : object[key];
    if (typeof name !== 'string' || !isSecretName(name)) continue;
    for (const value of values) if (isSecretMember(name, object[value])) found.add(value);
  }
  return found;
}

/** `Cookie: a=b` and `--api-key=x`, as in lists of headers and command lines. */
function isSecretLine(text: string): boolean {
  const [match, name = ''] = /^\s*-{0,2}([\w-]{1,60})\s*[:=]\s*\S/.exec(text) ?? [];
  return (
    match !== undefined &&
    !text.includes('\n') &&
    isSecretName(name) &&
    !isVariableName(name, text.slice(match.length - 1).trim())
  );
}

function sanitiseText(text: string, secrets: KnownSecrets): string {
  if (secrets.whole.has(text)) return REDACTED;
  const nested = /^\s*[[{"]/.test(text) ? sanitiseJsonText(text, secrets) : text;
  return redactSecretForms(replaceSecrets(nested, secrets));
}

/** JSON inside a string, as some clients pass headers. Text without secrets keeps its spelling. */
function sanitiseJsonText(text: string, secrets: KnownSecrets): string {
  try {
    const value = parseJson(text);
    const before = canonicalJson(value);
    const after = canonicalJson(sanitiseValue(value, secrets));
    return before === after ? text : after;
  } catch (error) {
    if (error instanceof JsonlError) return text;
    throw error;
  }
}
