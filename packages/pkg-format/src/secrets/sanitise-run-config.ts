import { JsonlError } from '@svc/jsonl-v23';
import {
  canonicalJson,
  ExactNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';

const REDACTED = '[redacted]';

/**
 * A run's configuration without secrets: no key, token, password, authorization header, cookie or user-info of a URL,
 * wherever it stands.
 *
 * Members whose name says that they are secret are left out, and so are name and value pairs in any of the forms in
 * which headers and environments are written. In texts, what looks like a secret and every known secret is replaced by
 * `[redacted]`, also in member names, in JSON inside a string, and base64- or percent-encoded.
 *
 * A name such as `api_key_env` that holds the name of a worker's `SVC_PROVIDER_...` variable stays: it is no secret, and
 * the run could not be repeated without it. Numbers stay under names such as `max_tokens`.
 *
 * @param secrets known to the process; one of fewer than four characters is replaced only where it is the whole text
 */
export function sanitiseRunConfig(config: JsonObject, secrets: readonly string[] = []): JsonObject {
  return sanitiseObject(config, spellingsOf(secrets));
}

/** Gives a function that replaces known secrets in every string and member name of a value, in any spelling. */
export function createRedactor(secrets: readonly string[]): <T extends JsonValue>(value: T) => T {
  const spellings = spellingsOf(secrets);
  const redact = (value: JsonValue): JsonValue => {
    if (typeof value === 'string')
      return spellings.whole.has(value) ? REDACTED : replaceSecrets(value, spellings);
    if (Array.isArray(value)) return value.map(redact);
    if (!isJsonObject(value)) return value;
    const result: JsonObject = {};
    const nameFor = createNamer(result);
    for (const key of Object.keys(value)) {
      setMember(result, nameFor(replaceSecrets(key, spellings)), redact(value[key]!));
    }
    return result;
  };
  return spellings.whole.size === 0 ? (value) => value : (redact as <T extends JsonValue>(value: T) => T);
}

interface Secrets {
  /** Longest first, so that a secret which holds another goes as a whole. */
  readonly inside: readonly string[];
  readonly whole: ReadonlySet<string>;
}

const SHORTEST_INSIDE = 4;

function spellingsOf(secrets: readonly string[]): Secrets {
  const known = secrets.filter((secret) => secret !== '');
  const inside = known
    .filter((secret) => secret.length >= SHORTEST_INSIDE)
    .flatMap((secret) => {
      const wellFormed = secret.toWellFormed();
      const base64 = toBase64(wellFormed);
      return [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(wellFormed),
        base64,
        base64.replace(/(?<!=)=+$/, ''),
        base64
          .replaceAll('+', '-')
          .replaceAll('/', '_')
          .replace(/(?<!=)=+$/, ''),
      ];
    });
  return { inside: [...new Set(inside)].sort((a, b) => b.length - a.length), whole: new Set(known) };
}

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

function sanitiseValue(value: JsonValue, secrets: Secrets): JsonValue {
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

function sanitiseObject(object: JsonObject, secrets: Secrets): JsonObject {
  const result: JsonObject = {};
  const nameFor = createNamer(result);
  const pairedValue = secretPairValue(object);
  for (const key of Object.keys(object)) {
    const value = object[key]!;
    if (pairedValue.has(key) || isSecretMember(key, value)) continue;
    setMember(result, nameFor(sanitiseText(key, secrets)), sanitiseValue(value, secrets));
  }
  return result;
}

/** Names that became the same get this many underscores at most, and then numbers. */
const MAX_UNDERSCORES = 8;

/** Gives a function that makes a name different from those that an object has. Takes no longer for the thousandth. */
function createNamer(object: JsonObject): (name: string) => string {
  const numbers = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    for (let tries = 0; Object.hasOwn(object, name) && tries < MAX_UNDERSCORES; tries++) name += '_';
    while (Object.hasOwn(object, name)) {
      const number = (numbers.get(wanted) ?? MAX_UNDERSCORES) + 1;
      numbers.set(wanted, number);
      name = `${wanted}_${number}`;
    }
    return name;
  };
}

/*
 * Every pattern of this file takes time that grows with the text and no faster: configurations come with requests and
 * packages. A run of characters is looked at from one place only, or its length is bounded.
 */

/** Words of a name, whatever its style: `x-api-key`, `apiKey`, `API_KEY` are "api", "key". */
function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

const SECRET_WORDS = new Set([
  'authorization',
  'authentication',
  'auth',
  'bearer',
  'cookie',
  'cookies',
  'credential',
  'credentials',
  'creds',
  'jwt',
  'passphrase',
  'passwd',
  'password',
  'passwords',
  'pwd',
  'secret',
  'secrets',
  'signature',
  'userinfo',
]);
/** Parts that betray a secret also where words run together, as in `apikey` or `dbpassword`. */
const SECRET_PARTS =
  /apikey|accesskey|secretkey|privatekey|signingkey|sshkey|encryptionkey|subscriptionkey|accesstoken|authtoken|refreshtoken|sessiontoken|bearertoken|idtoken|apitoken|password|passphrase|passwd|authorization|credential|clientsecret|setcookie|sessionid|sessid/;
/** Words after "key" or "token" that name the thing itself, not something about it. */
const SELF_WORDS = new Set([
  'id',
  'value',
  'secret',
  'data',
  'material',
  'pem',
  'base64',
  'b64',
  'string',
  'text',
  'header',
  'file',
]);
/** Words before "tokens" that make it a measure or a part of a language model's vocabulary. */
const TOKEN_MEASURES = new Set([
  'max',
  'min',
  'num',
  'n',
  'total',
  'prompt',
  'completion',
  'input',
  'output',
  'stop',
  'special',
  'new',
  'reasoning',
  'thinking',
  'cached',
  'generated',
  'added',
  'banned',
  'suppress',
  'budget',
]);

function isSecretName(name: string): boolean {
  const parts = words(name);
  if (parts.some((word) => SECRET_WORDS.has(word)) || SECRET_PARTS.test(parts.join(''))) return true;
  while (parts.length > 1 && (SELF_WORDS.has(parts.at(-1)!) || /^\d+$/.test(parts.at(-1)!))) parts.pop();
  const last = parts.at(-1)?.replace(/(?<!\d)\d+$/, '');
  if (last === 'key' || last === 'keys' || last === 'token' || last === 'pass' || last === 'pat') return true;
  return last === 'tokens' && !parts.some((word) => TOKEN_MEASURES.has(word));
}

function isSecretMember(name: string, value: JsonValue): boolean {
  if (value === null || typeof value === 'boolean' || !isSecretName(name)) return false;
  if (typeof value === 'string' && isVariableName(name, value)) return false;
  // A number under "tokens" is a measure; under "password" it may well be one.
  const isNumber = typeof value === 'number' || value instanceof ExactNumber;
  return !(isNumber && words(name).at(-1) === 'tokens');
}

/** operations.md section 6: a configuration names the variable that holds the key, and never the key. */
function isVariableName(name: string, value: string): boolean {
  return words(name).at(-1) === 'env' && /^SVC_PROVIDER_[A-Z0-9_]{1,100}$/.test(value);
}

const PAIR_NAMES = ['name', 'key', 'header', 'field', 'variable', 'param', 'k'];
const PAIR_VALUES = ['value', 'val', 'values', 'content', 'v'];

/** `["Authorization", "..."]`, `{"name": "Cookie", "value": "..."}`, `"X-Api-Key: ..."` as members of a list. */
function isSecretPair(member: JsonValue): boolean {
  if (typeof member === 'string') return isSecretLine(member);
  if (Array.isArray(member)) {
    return member.length === 2 && typeof member[0] === 'string' && isSecretMember(member[0], member[1]!);
  }
  return isJsonObject(member) && secretPairValue(member).size > 0;
}

/** The members of an object that is a name and value pair, where its name says that the value is secret. */
function secretPairValue(object: JsonObject): ReadonlySet<string> {
  const has = (key: string): boolean => Object.hasOwn(object, key);
  const found = new Set<string>();
  const keys = new Map(Object.keys(object).map((key) => [key.toLowerCase(), key]));
  const values = PAIR_VALUES.map((key) => keys.get(key)).filter(
    (key) => key !== undefined && has(key),
  ) as string[];
  if (values.length === 0) return found;
  for (const nameKey of PAIR_NAMES) {
    const key = keys.get(nameKey);
    const name = key === undefined ? undefined : object[key];
    if (typeof name !== 'string' || !isSecretName(name)) continue;
    for (const value of values) if (isSecretMember(name, object[value]!)) found.add(value);
  }
  return found;
}

/** `Cookie: a=b` and `--api-key=x`, as header lists and command lines have them. */
function isSecretLine(text: string): boolean {
  const line = /^\s*-{0,2}([\w-]{1,60})\s*[:=]\s*\S/.exec(text);
  return (
    line !== null &&
    !text.includes('\n') &&
    isSecretName(line[1]!) &&
    !isVariableName(line[1]!, text.slice(line[0].length - 1).trim())
  );
}

function sanitiseText(text: string, secrets: Secrets): string {
  if (secrets.whole.has(text)) return REDACTED;
  const nested = /^\s*[[{"]/.test(text) ? sanitiseJsonText(text, secrets) : text;
  let result = replaceSecrets(nested, secrets);
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  result = redactWebTokens(result);
  result = result.replace(BASIC, (match, scheme: string, credentials: string) =>
    isBasicCredentials(credentials) ? `${scheme} ${REDACTED}` : match,
  );
  result = result.replace(QUOTED_MEMBER, (match, start: string, name: string, sign: string, quote: string) =>
    isSecretName(name) ? `${start}${name}${sign}${quote}${REDACTED}${quote}` : match,
  );
  return result.replace(ASSIGNMENT, (match, before: string, name: string, sign: string) =>
    isSecretName(name) ? `${before}${name}${sign}${REDACTED}` : match,
  );
}

function replaceSecrets(text: string, secrets: Secrets): string {
  let result = text;
  for (const secret of secrets.inside)
    if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
  return result;
}

/** JSON inside a string, as some clients pass headers; written anew only where something was taken out. */
function sanitiseJsonText(text: string, secrets: Secrets): string {
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

/** RFC 7617: base64 of `user:password`. */
const BASIC = /\b(Basic)\s+([A-Za-z0-9+/_-]{4,}={0,2})/gi;

function isBasicCredentials(text: string): boolean {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/')).includes(':');
  } catch {
    return false;
  }
}

/** `name=value` in query strings, connection strings and command lines; `Name: value` in header lines. */
const ASSIGNMENT =
  /(^|[\s?&;,"'{(])-{0,2}([A-Za-z][\w-]{0,60})(=|:[ \t]+(?=\S+$))("[^"]*"|'[^']*'|[^\s&;,"')}]+)/gm;

/**
 * `"name": "value"` of JSON or a program in the middle of a text, its quotes perhaps escaped: 15 backslashes are JSON
 * inside of JSON, four times. So there are few forms of a quote, and a text is searched to its end once for each.
 */
const QUOTED_MEMBER = /(["'])([\w-]{1,60})(\\{0,15}["']\s*[:=]\s*)(\\{0,15}["'])[\s\S]*?\4/g;

/** What gives itself away without a name. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // RFC 3986 section 3.2.1: the user-info of an authority, with or without a scheme.
  [/(\/\/)[^\s/?#"'<>]*@/g, '$1'],
  [/^[^\s/:@?#]+:[^\s/@?#]+@(?=[\w.-]+(?::\d+)?(?:[/?#]|$))/g, ''],
  [/\b(Bearer|Token|ApiKey|Api-Key)\s+(?=[^\s"',;]*\d)[A-Za-z0-9._~+/=:-]{12,}/gi, `$1 ${REDACTED}`],
  [/\b(Digest|Negotiate|AWS4-HMAC-SHA256)\s+(?:[A-Za-z-]+=|[A-Za-z0-9+/]{16,}).*$/gim, `$1 ${REDACTED}`],
  [/^([^\S\r\n\u2028\u2029]*(?:proxy-)?authorization\s*:).*$/gim, `$1 ${REDACTED}`],
  [/^([^\S\r\n\u2028\u2029]*(?:set-)?cookie\s*:).*$/gim, `$1 ${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // The key forms of well-known services.
  [/\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\b(?:hf|gh[opsur]|glpat|npm|pypi|xox[abeprs]|gsk|xai|r8|dop_v1|shpat)[-_][A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, REDACTED],
];

/**
 * Replaces JSON Web Tokens (RFC 7519): `eyJ…`, a dot, four characters, and perhaps a third part. By hand, since a pattern
 * would look at the rest of `eyJ-eyJ-eyJ-…` from each of its parts.
 */
function redactWebTokens(text: string): string {
  if (!text.includes('eyJ')) return text;
  const parts: string[] = [];
  let copied = 0;
  const runs = /[\w-]+/g;
  for (let run = runs.exec(text); run !== null; run = runs.exec(text)) {
    const end = runs.lastIndex;
    const start = /\beyJ/.exec(run[0]);
    if (start === null || run[0].length - start.index < 11 || text[end] !== '.') continue;
    const payload = /[\w-]{4,}(?:\.[\w-]*)?/y;
    payload.lastIndex = end + 1;
    if (!payload.test(text)) continue;
    parts.push(text.slice(copied, run.index + start.index), REDACTED);
    copied = runs.lastIndex = payload.lastIndex;
  }
  return parts.join('') + text.slice(copied);
}
