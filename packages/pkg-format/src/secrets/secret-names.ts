/** The words of a name in any style: `x-api-key`, `apiKey` and `API_KEY` are "api", "key". */
export function words(name: string): string[] {
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
/** Parts of a secret's name if its words are not separated, as in `apikey` or `dbpassword`. */
const SECRET_PARTS =
  /apikey|accesskey|secretkey|privatekey|signingkey|sshkey|encryptionkey|subscriptionkey|accesstoken|authtoken|refreshtoken|sessiontoken|bearertoken|idtoken|apitoken|password|passphrase|passwd|authorization|credential|clientsecret|setcookie|sessionid|sessid/;
/** Words after "key" or "token" that mean the secret itself, not something about it. */
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
/** Words before "tokens" that make it a count or a part of a language model's vocabulary. */
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

/**
 * Whether a name says that its value is a secret: `api_key`, `Authorization`, `dbPassword`, but not `max_tokens`. Made
 * for data at rest: it errs towards secrecy. Takes linear time.
 */
export function isSecretName(name: string): boolean {
  const parts = words(name);
  if (parts.some((word) => SECRET_WORDS.has(word)) || SECRET_PARTS.test(parts.join(''))) return true;
  while (parts.length > 1 && isSelfWord(parts.at(-1))) parts.pop();
  const last = parts.at(-1)?.replace(/(?<!\d)\d+$/, '');
  if (last === 'key' || last === 'keys' || last === 'token' || last === 'pass' || last === 'pat') return true;
  return last === 'tokens' && !parts.some((word) => TOKEN_MEASURES.has(word));
}

function isSelfWord(word = ''): boolean {
  return SELF_WORDS.has(word) || /^\d+$/.test(word);
}
