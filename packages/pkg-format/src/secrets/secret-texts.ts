import { REDACTED } from '@svc/jsonl-v23/secrets';

/*
 * Every pattern takes linear time: configurations come with requests and packages. A run of characters is scanned from
 * one position only, or its length is bounded.
 */

/** Forms of secrets that need no name. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // RFC 3986 section 3.2.1: the user-info of an authority, with or without a scheme.
  [/(\/\/)[^\s/?#"'<>]*@/g, '$1'],
  [/^[^\s/:@?#]+:[^\s/@?#]+@(?=[\w.-]+(?::\d+)?(?:[/?#]|$))/g, ''],
  [/\b(Bearer|Token|ApiKey|Api-Key)\s+(?=[^\s"',;]*\d)[A-Za-z0-9._~+/=:-]{12,}/gi, `$1 ${REDACTED}`],
  [/\b(Digest|Negotiate|AWS4-HMAC-SHA256)\s+(?:[A-Za-z-]+=|[A-Za-z0-9+/]{16,}).*$/gim, `$1 ${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // The key formats of well-known services.
  [/\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\b(?:hf|gh[opsur]|glpat|npm|pypi|xox[abeprs]|gsk|xai|r8|dop_v1|shpat)[-_][A-Za-z0-9_-]{16,}/g, REDACTED],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, REDACTED],
];

/** Lines of headers, whatever their values look like. */
const HEADER_LINES: readonly RegExp[] = [
  /^([^\S\r\n\u2028\u2029]*(?:proxy-)?authorization\s*:).*$/gim,
  /^([^\S\r\n\u2028\u2029]*(?:set-)?cookie\s*:).*$/gim,
];

/** RFC 7617: base64 of `user:password`. */
const BASIC = /\b(Basic)\s+([A-Za-z0-9+/_-]{4,}={0,2})/gi;

/** `name=value` in query strings, connection strings and command lines; `Name: value` in header lines. */
const ASSIGNMENT =
  /(^|[\s?&;,"'{(])-{0,2}([A-Za-z][\w-]{0,60})(=|:[ \t]+(?=\S+$))("[^"]*"|'[^']*'|[^\s&;,"')}]+)/gm;

/**
 * `"name": "value"` of JSON or a program inside a text, its quotes perhaps escaped: 15 backslashes are JSON inside JSON,
 * four times. So a quote has few forms, and a text is searched to its end once for each.
 */
const QUOTED_MEMBER = /(["'])([\w-]{1,60})(\\{0,15}["']\s*[:=]\s*)(\\{0,15}["'])[\s\S]*?\4/g;

export function redactSecretForms(text: string): string {
  let result = text;
  for (const [pattern, replacement] of PATTERNS) result = result.replace(pattern, replacement);
  result = redactWebTokens(result);
  return result.replace(BASIC, (match, scheme: string, credentials: string) =>
    isBasicCredentials(credentials) ? `${scheme} ${REDACTED}` : match,
  );
}

/** Replaces the values that follow the name of a secret in a text. */
export function redactNamedSecrets(text: string): string {
  let result = text;
  for (const line of HEADER_LINES) result = result.replace(line, `$1 ${REDACTED}`);
  result = result.replace(QUOTED_MEMBER, (match, start: string, name: string, sign: string, quote: string) =>
    isSecretName(name) ? `${start}${name}${sign}${quote}${REDACTED}${quote}` : match,
  );
  return result.replace(ASSIGNMENT, (match, before: string, name: string, sign: string) =>
    isSecretName(name) ? `${before}${name}${sign}${REDACTED}` : match,
  );
}

function isBasicCredentials(text: string): boolean {
  try {
    return atob(text.replaceAll('-', '+').replaceAll('_', '/')).includes(':');
  } catch {
    return false;
  }
}

/** Replaces JSON Web Tokens (RFC 7519) by hand: a pattern would scan the rest of `eyJ-eyJ-…` from each of its parts. */
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
    copied = payload.lastIndex;
    runs.lastIndex = copied;
  }
  return parts.join('') + text.slice(copied);
}

/** The words of a name in any style: `x-api-key`, `apiKey` and `API_KEY` are "api", "key". */
export function words(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

/** Words that make any name the name of a secret. */
export const SECRET_WORDS: ReadonlySet<string> = new Set([
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
/** Parts of a secret's name if its words are not separated, as in `apikey` or `dbpassword`. */
export const SECRET_PARTS: RegExp =
  /apikey|accesskey|secretkey|privatekey|signingkey|sshkey|encryptionkey|subscriptionkey|accesstoken|authtoken|refreshtoken|sessiontoken|bearertoken|idtoken|apitoken|password|passphrase|passwd|authorization|credential|clientsecret|setcookie|sessionid|sessid/;
/** Words after "key" or "token" that mean the secret itself, not something about it. */
export const SELF_WORDS: ReadonlySet<string> = new Set([
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
/** Words before "tokens" that make it a count or a part of a language model's vocabulary. */
export const TOKEN_MEASURES: ReadonlySet<string> = new Set([
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
/** Words before "key" that make it the name of an entry instead of a secret. */
export const ENTRY_WORDS: ReadonlySet<string> = new Set([
  'cache',
  'foreign',
  'idempotency',
  'primary',
  'sort',
]);

/** True for `api_key` and `dbPassword`, false for `max_tokens` and `prompt_cache_key`; errs towards secrecy. */
export function isSecretName(name: string): boolean {
  const parts = words(name);
  if (parts.some((word) => SECRET_WORDS.has(word)) || SECRET_PARTS.test(parts.join(''))) return true;
  while (parts.length > 1 && isSelfWord(parts.at(-1))) parts.pop();
  const last = parts.at(-1)?.replace(/(?<!\d)\d+$/, '');
  if (last === 'key' && ENTRY_WORDS.has(parts.at(-2) ?? '')) return false;
  if (last === 'key' || last === 'keys' || last === 'token' || last === 'pass' || last === 'pat') return true;
  return last === 'tokens' && !parts.some((word) => TOKEN_MEASURES.has(word));
}

function isSelfWord(word = ''): boolean {
  return SELF_WORDS.has(word) || /^\d+$/.test(word);
}
