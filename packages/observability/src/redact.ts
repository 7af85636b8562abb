const MARK = '[redacted]';

/** Replaces secrets in a text. */
export type Redactor = (text: string) => string;

/**
 * Makes a function that removes every known secret from a text, also in its percent-encoded form and in JSON text. It
 * also removes the credentials of a bearer or basic authorization and the user-info of a URL, known or not.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const variants = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    variants.add(secret);
    variants.add(JSON.stringify(secret).slice(1, -1));
    variants.add(percentEncode(secret));
  }
  // Longest first: if one secret begins with another, the whole of it is removed.
  const byLength = [...variants].sort((a, b) => b.length - a.length);
  const known = byLength.length > 0 ? new RegExp(byLength.map(escapeRegExp).join('|'), 'g') : undefined;
  return (text) => redactForms(known === undefined ? text : text.replace(known, MARK));
}

const SENSITIVE_NAME =
  /^(?:(?:proxy_)?authorization|(?:set_)?cookies?|(?:x_)?api_?keys?|(?:access_|refresh_|bearer_|auth_|hub_)?token|pass(?:word|wd|phrase)|(?:client_)?secrets?|private_key|credentials?)$/;

/** A part that each of them has: most names need no more than this test. */
const SENSITIVE_PART = /auth|cookie|key|token|pass|secret|cred/i;

/** Whether the value of a key with this name is a secret: `Authorization`, `apiKey`, `hub_token`, `password`. */
export function isSensitiveName(name: string): boolean {
  if (name.length > 64 || !SENSITIVE_PART.test(name)) return false;
  const snake = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
  return SENSITIVE_NAME.test(snake);
}

function redactForms(text: string): string {
  let result = text;
  if (/bearer|basic/i.test(result))
    result = result.replace(/\b(bearer|basic) +[\w.~+/=:-]{6,}/gi, `$1 ${MARK}`);
  if (result.includes('@')) result = result.replace(/:\/\/[^\s/?#@"']{1,512}@/g, `://${MARK}@`);
  return result;
}

function percentEncode(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret; // a lone surrogate has no percent-encoded form
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
