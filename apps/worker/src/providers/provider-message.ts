import type { ModelConfig } from '@svc/evaluation';
import { type KnownSecrets, REDACTED, replaceSecrets, spellingsOf } from '@svc/jsonl-v23/internal';
import { redactNamedSecrets, redactSecretForms } from '@svc/pkg-format/internal';

const MAX_CODE_POINTS = 500;

/** Texts that a message must not repeat. */
export interface HiddenTexts {
  readonly keys: KnownSecrets;
  readonly headers: KnownSecrets;
}

/** A message is no output: here, shorter keys are hidden too. */
const MIN_HIDDEN_CHARS = 4;

/** The keys of the process, and the values of the headers that the author of the run adds. */
export function hiddenTexts({
  keys,
  extra_headers = {},
}: Pick<ModelConfig, 'extra_headers'> & { readonly keys: readonly string[] }): HiddenTexts {
  return {
    keys: spellingsOf(keys, MIN_HIDDEN_CHARS),
    headers: spellingsOf(Object.values(extra_headers), MIN_HIDDEN_CHARS),
  };
}

/** Beginnings of keys in messages, which may be short, or masked with asterisks. */
const KEYS =
  /\b(?:sk|pk|rk|hf|gh[opsur]|github_pat|glpat|xox[abeprs]|gsk|xai|r8|pypi)[-_](?=[\w.-]{0,100}[\d*])[\w*.-]{4,}/g;
const WEB_TOKENS = /\beyJ[\w-]{6,}(?:\.[\w-]*){0,2}/g;
const SCHEMES = /\b(bearer|basic) +[\w.~+/=:*-]{6,}/gi;
const USER_INFO = /:\/\/[^\s/?#@"']{1,512}@/g;

/**
 * What a provider says about an error, as results show it: without control characters, then without anything that is or
 * looks like a secret, then cut to 500 code points.
 *
 * @returns null if nothing is left
 */
export function shownMessage(text: string, { keys, headers }: HiddenTexts): string | null {
  const readable = text
    .toWellFormed()
    .replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' ')
    // Characters that are not seen could also hide a secret from what follows.
    .replace(/[\p{Cc}\p{Cf}]/gu, '');
  const known = replaceSecrets(replaceSecrets(readable, keys), headers);
  const formed = redactNamedSecrets(redactSecretForms(known))
    .replace(KEYS, REDACTED)
    .replace(WEB_TOKENS, REDACTED)
    .replace(SCHEMES, `$1 ${REDACTED}`)
    .replace(USER_INFO, `://${REDACTED}@`);
  const shown = cut(formed.trim());
  return shown === '' ? null : shown;
}

function cut(text: string): string {
  if (text.length <= MAX_CODE_POINTS) return text;
  const points = Array.from(text.slice(0, 2 * MAX_CODE_POINTS + 2));
  return points.length <= MAX_CODE_POINTS ? text : `${points.slice(0, MAX_CODE_POINTS - 1).join('')}…`;
}
