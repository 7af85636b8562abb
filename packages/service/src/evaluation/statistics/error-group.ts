import { createHash } from 'node:crypto';
import type { RunFailure } from '../run-session.ts';

const MAX_CHARS = 10_000;
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
const WORD = /[A-Za-z0-9]{4,}/g;
const HEXADECIMAL = /^(?:0x)?[0-9a-f]+$/i;

/**
 * A message without what differs each time: identifiers become `<id>`, and numbers `<n>`. An identifier is a UUID, or has
 * digits among its letters and either ten characters or more, or four or more that are all hexadecimal.
 */
export function foldMessage(message: string): string {
  return message
    .slice(0, MAX_CHARS)
    .replace(UUID, '<id>')
    .replace(WORD, (word) => (isIdentifier(word) ? '<id>' : word))
    .replace(/\d+(?:[.,:]\d+)*/g, '<n>');
}

const isIdentifier = (word: string): boolean =>
  /\d/.test(word) && /[A-Za-z]/.test(word) && (word.length >= 10 || HEXADECIMAL.test(word));

/** What an error says: the provider's words, else the service's. */
export function errorWords({ message, provider_message }: RunFailure): string {
  return provider_message ?? message;
}

/**
 * The name of the group of an error: equal for errors of one code with equal folded messages. Identifiers without letters
 * look like numbers.
 */
export function errorGroup(error: RunFailure): string {
  const text = `${error.code}\n${foldMessage(errorWords(error)).replaceAll('<id>', '<n>')}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
