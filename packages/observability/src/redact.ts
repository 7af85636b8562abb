const mark = '[redacted]';

/** Replaces secrets in a text. */
export type Redactor = (text: string) => string;

/**
 * Makes a function that takes out of a text every known secret, also where it was percent-encoded or stands
 * in JSON text, and two forms that are secret whoever made them: the credentials of a bearer or basic
 * authorization and the user-info of a URL.
 */
export function createRedactor(secrets: Iterable<string>): Redactor {
  const variants = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    variants.add(secret);
    variants.add(JSON.stringify(secret).slice(1, -1));
    variants.add(percentEncode(secret));
  }
  // The longest first: where one secret begins with another, the whole of it goes.
  const longestFirst = [...variants].sort((a, b) => b.length - a.length);
  const known =
    longestFirst.length > 0 ? new RegExp(longestFirst.map(escapeRegExp).join('|'), 'g') : undefined;
  return (text) => {
    const unknown = known ? text.replace(known, mark) : text;
    return redactForms(unknown);
  };
}

const sensitiveName =
  /^(?:(?:proxy_)?authorization|(?:set_)?cookies?|(?:x_)?api_?keys?|(?:access_|refresh_|bearer_|auth_|hub_)?token|pass(?:word|wd|phrase)|(?:client_)?secrets?|private_key|credentials?)$/;

/** A part that every one of them has: most names are done with after it. */
const sensitivePart = /auth|cookie|key|token|pass|secret|cred/i;

/**
 * Whether a key says that its value is a secret, such as `Authorization`, `apiKey`, `hub_token` or
 * `password`.
 */
export function isSensitiveName(name: string): boolean {
  if (name.length > 64 || !sensitivePart.test(name)) return false;
  const snake = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
  return sensitiveName.test(snake);
}

function redactForms(text: string): string {
  let result = text;
  if (/bearer|basic/i.test(result))
    result = result.replace(/\b(bearer|basic) +[\w.~+/=:-]{6,}/gi, `$1 ${mark}`);
  if (result.includes('@')) result = result.replace(/:\/\/[^\s/?#@"']{1,512}@/g, `://${mark}@`);
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
