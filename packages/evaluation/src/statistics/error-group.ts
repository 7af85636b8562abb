import { createHash } from 'node:crypto';
import type { RunFailure } from '../run-session.ts';

const MAX_CHARS = 10_000;
const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
const WORD = /[A-Za-z0-9]{10,}/g;

/**
 * A message without what differs each time: identifiers become `<id>`, and numbers `<n>`. An identifier is a UUID, or has
 * ten characters or more with digits among its letters.
 */
export function foldMessage(message: string): string {
  return message
    .slice(0, MAX_CHARS)
    .replace(UUID, '<id>')
    .replace(WORD, (word) => (/\d/.test(word) && /[A-Za-z]/.test(word) ? '<id>' : word))
    .replace(/\d+(?:[.,:]\d+)*/g, '<n>');
}

/** What an error says: the words of the provider, else those of the service. */
export function errorWords({ message, provider_message }: RunFailure): string {
  return provider_message ?? message;
}

/** The name of the group of an error: equal for errors of one code whose messages are equal once they are folded. */
export function errorGroup(error: RunFailure): string {
  const text = `${error.code}\n${foldMessage(errorWords(error))}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
