import {
  canonicalJson,
  ExactNumber,
  isJsonObject,
  JsonlError,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import {
  createNamer,
  type KnownSecrets,
  REDACTED,
  replaceSecrets,
  spellingsOf,
} from '@svc/jsonl-v23/secrets';
import { isSecretName, redactNamedSecrets, redactSecretForms, words } from './secret-texts.ts';

/**
 * Removes secrets from a run's configuration: keys, tokens, passwords, authorization headers, cookies and the user-info
 * of URLs, at any depth.
 *
 * It removes members with the name of a secret, and name and value pairs in any of the forms in which headers and
 * environments are written. In texts it replaces what looks like a secret and every known secret by `[redacted]`, also
 * in member names, in JSON inside a string, and base64- or percent-encoded.
 *
 * It keeps a name such as `api_key_env` with the name of a worker's `SVC_PROVIDER_...` variable, which is not a secret
 * and which you need to repeat the run, `auth` with the way in which a key is sent, and numbers under names such as
 * `max_tokens`. In prompts, checkers, selections and descriptions, and for the names of properties in a JSON Schema, the
 * name of a secret means nothing: there it looks for what has the form of a secret, and for known secrets.
 *
 * @param secrets known to the process. Secrets of fewer than 16 characters stay, because words are as short.
 */
export function sanitiseRunConfig(config: JsonObject, secrets: readonly string[] = []): JsonObject {
  return sanitiseObject(config, 'config', newSearch(secrets));
}

/**
 * Where a run's configuration holds what {@link sanitiseRunConfig} would remove or replace: at most {@link MAX_FOUND}
 * JSON Pointers, which contain no secret.
 *
 * @param secrets known to the process
 */
export function findRunConfigSecrets(config: JsonObject, secrets: readonly string[] = []): string[] {
  const search = newSearch(secrets);
  sanitiseObject(config, 'config', search);
  return search.found;
}

/**
 * Whether a text, such as the name of a run, holds a known secret, or has the form of one.
 *
 * @param secrets known to the process
 */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return sanitiseText(text, 'prose', spellingsOf(secrets)) !== text;
}

const MAX_FOUND = 100;
/** Longer names are cut in pointers. */
const MAX_STEP_CHARS = 256;

interface Search {
  readonly secrets: KnownSecrets;
  /** Where the search is. */
  readonly steps: (string | number)[];
  readonly found: string[];
}

const newSearch = (secrets: readonly string[]): Search => ({
  secrets: spellingsOf(secrets),
  steps: [],
  found: [],
});

function addFound({ found, steps }: Search): void {
  if (found.length < MAX_FOUND) found.push(jsonPointer(steps));
}

/**
 * What a value is: the whole configuration, an object whose members are named like properties, prose, in which the name
 * of a secret is a word like any other, or anything else.
 */
type Kind = 'config' | 'properties' | 'prose' | 'other';

/** Members of a configuration that the provider gets as text, or that are compared with texts. */
const PROSE_MEMBERS: ReadonlySet<string> = new Set(['system_prompt', 'prompt_template', 'checker', 'select']);
/** Members of a JSON Schema that name properties and definitions. */
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  '$defs',
  'definitions',
]);

function kindOf(name: string, value: JsonValue, parent: Kind): Kind {
  if (parent === 'prose' || (parent === 'config' && PROSE_MEMBERS.has(name))) return 'prose';
  if (name === 'description' && typeof value === 'string') return 'prose';
  return parent !== 'properties' && SCHEMA_MEMBERS.has(name) && isJsonObject(value) ? 'properties' : 'other';
}

function sanitiseValue(value: JsonValue, kind: Kind, search: Search): JsonValue {
  if (typeof value === 'string') {
    const text = sanitiseText(value, kind, search.secrets);
    if (text !== value) addFound(search);
    return text;
  }
  if (Array.isArray(value)) return sanitiseArray(value, kind, search);
  if (isJsonObject(value)) return sanitiseObject(value, kind, search);
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  if (!isNumber || replaceSecrets(String(value), search.secrets) === String(value)) return value;
  addFound(search);
  return REDACTED;
}

function sanitiseArray(values: readonly JsonValue[], kind: Kind, search: Search): JsonValue[] {
  const result: JsonValue[] = [];
  for (const [index, value] of values.entries()) {
    search.steps.push(index);
    if (kind !== 'prose' && isSecretPair(value)) addFound(search);
    else result.push(sanitiseValue(value, kind, search));
    search.steps.pop();
  }
  return result;
}

function sanitiseObject(object: JsonObject, kind: Kind, search: Search): JsonObject {
  const result: JsonObject = {};
  const uniqueName = createNamer(result);
  const pairedValues = kind === 'prose' ? new Set() : secretPairValues(object);
  for (const [key, value] of Object.entries(object)) {
    const isSchema = kind === 'properties' && (isJsonObject(value) || Array.isArray(value));
    const name = sanitiseText(key, kind, search.secrets);
    search.steps.push(name.slice(0, MAX_STEP_CHARS));
    if (kind !== 'prose' && !isSchema && (pairedValues.has(key) || isSecretMember(key, value))) {
      addFound(search);
    } else {
      if (name !== key) addFound(search);
      setMember(result, uniqueName(name), sanitiseValue(value, kindOf(key, value, kind), search));
    }
    search.steps.pop();
  }
  return result;
}

function isSecretMember(name: string, value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || typeof value === 'boolean' || !isSecretName(name))
    return false;
  if (typeof value === 'string' && (isVariableName(name, value) || isWayToSend(name, value))) return false;
  // A number under "tokens" is a count; under "password" it may well be a password.
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  return !(isNumber && words(name).at(-1) === 'tokens');
}

/** A configuration names the variable that holds the key, and never the key. */
function isVariableName(name: string, value: string): boolean {
  return words(name).at(-1) === 'env' && /^SVC_PROVIDER_[A-Z0-9_]{1,100}$/.test(value);
}

/** How a model gets its key. */
function isWayToSend(name: string, value: string): boolean {
  return name === 'auth' && (value === 'bearer' || value === 'api-key');
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

function sanitiseText(text: string, kind: Kind, secrets: KnownSecrets): string {
  if (kind === 'prose') return redactSecretForms(replaceSecrets(text, secrets));
  const nested = /^\s*[[{"]/.test(text) ? sanitiseJsonText(text, secrets) : text;
  return redactNamedSecrets(redactSecretForms(replaceSecrets(nested, secrets)));
}

/** JSON inside a string, as some clients pass headers. Text without secrets keeps its spelling. */
function sanitiseJsonText(text: string, secrets: KnownSecrets): string {
  try {
    const value = parseJson(text);
    const before = canonicalJson(value);
    const after = canonicalJson(sanitiseValue(value, 'other', { secrets, steps: [], found: [] }));
    return before === after ? text : after;
  } catch (error) {
    if (error instanceof JsonlError) return text;
    throw error;
  }
}
