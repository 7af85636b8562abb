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

/**
 * Whether a name says that its value is a secret: `api_key`, `Authorization`, `dbPassword`, but not `max_tokens`
 * or `prompt_cache_key`. Made for data at rest: it errs towards secrecy. Takes linear time.
 */
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
