/**
 * The sanitiser in its most straightforward form, as the reference for the one in src, whose patterns are linear. Its time
 * grows with the square of a text, so it is for short texts.
 */
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
import {
  ENTRY_WORDS,
  SECRET_PARTS,
  SECRET_WORDS,
  SELF_WORDS,
  TOKEN_MEASURES,
} from '../src/secrets/secret-texts.ts';

const REDACTED = '[redacted]';

/** As `sanitiseRunConfig` of the package. */
export function sanitiseRunConfig(config: JsonObject, secrets: readonly string[] = []): JsonObject {
  return sanitiseObject(config, spellingsOf(secrets), 'config');
}

interface Secrets {
  /** Longest first, so that a secret which holds another goes as a whole. */
  readonly inside: readonly string[];
}

const SHORTEST_INSIDE = 16;

function spellingsOf(secrets: readonly string[]): Secrets {
  const inside = secrets
    .filter((secret) => secret.length >= SHORTEST_INSIDE)
    .flatMap((secret) => {
      const wellFormed = secret.toWellFormed();
      const base64 = toBase64(wellFormed);
      return [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(wellFormed),
        base64,
        base64.replace(/=+$/, ''),
        base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
      ];
    });
  return { inside: [...new Set(inside)].sort((a, b) => b.length - a.length) };
}

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

type Kind = 'config' | 'properties' | 'prose' | 'other';

function kindOf(name: string, value: JsonValue, parent: Kind): Kind {
  if (parent === 'prose') return 'prose';
  if (parent === 'config' && /^(system_prompt|prompt_template|checker|select)$/.test(name)) return 'prose';
  if (name === 'description' && typeof value === 'string') return 'prose';
  const holdsNames =
    /^(properties|patternProperties|dependentSchemas|dependentRequired|\$defs|definitions)$/.test(name);
  return holdsNames && parent !== 'properties' && isJsonObject(value) ? 'properties' : 'other';
}

function sanitiseValue(value: JsonValue, secrets: Secrets, kind: Kind): JsonValue {
  if (typeof value === 'string') return sanitiseText(value, secrets, kind);
  if (Array.isArray(value)) {
    const kept = kind === 'prose' ? value : value.filter((member) => !isSecretPair(member));
    return kept.map((member) => sanitiseValue(member, secrets, kind));
  }
  if (isJsonObject(value)) return sanitiseObject(value, secrets, kind);
  if (typeof value === 'number' || value instanceof ExactNumber) {
    return secrets.inside.some((secret) => String(value).includes(secret)) ? REDACTED : value;
  }
  return value;
}

function sanitiseObject(object: JsonObject, secrets: Secrets, kind: Kind): JsonObject {
  const result: JsonObject = {};
  const pairedValue = secretPairValue(object);
  for (const key of Object.keys(object)) {
    const value = object[key]!;
    const isFree =
      kind === 'prose' || (kind === 'properties' && (isJsonObject(value) || Array.isArray(value)));
    if (!isFree && (pairedValue.has(key) || isSecretMember(key, value))) continue;
    let name = sanitiseText(key, secrets, kind);
    while (Object.hasOwn(result, name)) name += '_';
    setMember(result, name, sanitiseValue(value, secrets, kindOf(key, value, kind)));
  }
  return result;
}

/** Words of a name, whatever its style: `x-api-key`, `apiKey`, `API_KEY` are "api", "key". */
function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

function isSecretName(name: string): boolean {
  const parts = words(name);
  if (parts.some((word) => SECRET_WORDS.has(word)) || SECRET_PARTS.test(parts.join(''))) return true;
  while (parts.length > 1 && (SELF_WORDS.has(parts.at(-1)!) || /^\d+$/.test(parts.at(-1)!))) parts.pop();
  const last = parts.at(-1)?.replace(/\d+$/, '');
  if (last === 'key' && ENTRY_WORDS.has(parts.at(-2) ?? '')) return false;
  if (last === 'key' || last === 'keys' || last === 'token' || last === 'pass' || last === 'pat') return true;
  return last === 'tokens' && !parts.some((word) => TOKEN_MEASURES.has(word));
}

function isSecretMember(name: string, value: JsonValue): boolean {
  if (value === null || typeof value === 'boolean' || !isSecretName(name)) return false;
  if (typeof value === 'string' && isVariableName(name, value)) return false;
  if (name === 'auth' && (value === 'bearer' || value === 'api-key')) return false;
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

function sanitiseText(text: string, secrets: Secrets, kind: Kind): string {
  const nested = kind !== 'prose' && /^\s*[[{"]/.test(text) ? sanitiseJsonText(text, secrets) : text;
  let result = replaceSecrets(nested, secrets);
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  result = result.replace(BASIC, (match, scheme: string, credentials: string) =>
    isBasicCredentials(credentials) ? `${scheme} ${REDACTED}` : match,
  );
  if (kind === 'prose') return result;
  for (const line of HEADER_LINES) result = result.replace(line, `$1 ${REDACTED}`);
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

/** JSON inside a string, as some clients pass headers; written again only if something was removed. */
function sanitiseJsonText(text: string, secrets: Secrets): string {
  try {
    const value = parseJson(text);
    const before = canonicalJson(value);
    const after = canonicalJson(sanitiseValue(value, secrets, 'other'));
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

/** `"name": "value"` of JSON or a program in the middle of a text, its quotes perhaps escaped. */
const QUOTED_MEMBER = /(\\*["'])([\w-]{1,60})(\\*["']\s*[:=]\s*)(\\*["'])(?:(?!\4)[\s\S])*\4/g;

/** What gives itself away without a name. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // RFC 3986 section 3.2.1: the user-info of an authority, with or without a scheme.
  [/(\/\/)[^\s/?#"'<>]*@/g, '$1'],
  [/^[^\s/:@?#]+:[^\s/@?#]+@(?=[\w.-]+(?::\d+)?(?:[/?#]|$))/g, ''],
  [/\b(Bearer|Token|ApiKey|Api-Key)\s+(?=[^\s"',;]*\d)[A-Za-z0-9._~+/=:-]{12,}/gi, `$1 ${REDACTED}`],
  [/\b(Digest|Negotiate|AWS4-HMAC-SHA256)\s+(?:[A-Za-z-]+=|[A-Za-z0-9+/]{16,}).*$/gim, `$1 ${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // JSON Web Tokens, and the key forms of well-known services.
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?/g, REDACTED],
  [/\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\b(?:hf|gh[opsur]|glpat|npm|pypi|xox[abeprs]|gsk|xai|r8|dop_v1|shpat)[-_][A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, REDACTED],
];

/** Lines of headers. */
const HEADER_LINES: readonly RegExp[] = [
  /^(\s*(?:proxy-)?authorization\s*:).*$/gim,
  /^(\s*(?:set-)?cookie\s*:).*$/gim,
];
