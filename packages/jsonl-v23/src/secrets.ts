import { encodeBase64 } from '#native';
import { isJsonObject, type JsonObject, type JsonValue, setMember } from './json/json-value.ts';

export const REDACTED = '[redacted]';

/** Known secrets in every spelling; null without any. It passes between threads. */
export type KnownSecrets = RegExp | null;

/** Keys of the service are at least this long; shorter texts are words or passwords, which occur by chance. */
export const MIN_SECRET_LENGTH = 16;

/** Secrets as they are, in JSON text, percent-encoded, and in base64 and base64url, also as a part of a longer text. */
export function spellingsOf(secrets: readonly string[], minLength: number = MIN_SECRET_LENGTH): KnownSecrets {
  const spellings = secrets
    .filter((secret) => secret !== '' && secret.length >= minLength)
    .flatMap((secret) => {
      const wellFormed = secret.toWellFormed();
      return [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(wellFormed),
        ...base64Spellings(new TextEncoder().encode(wellFormed)).flatMap((text) => [
          text,
          toUrlAlphabet(text),
        ]),
      ];
    });
  if (spellings.length === 0) return null;
  // Longest first: if one secret begins with another, the whole of it is replaced.
  const byLength = [...new Set(spellings)].sort((a, b) => b.length - a.length);
  return new RegExp(byLength.map((text) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}

/**
 * The base64 text of bytes, with padding and without, and the characters that only these bytes determine if they begin
 * at the second or third byte of a group of three.
 */
function base64Spellings(bytes: Uint8Array): string[] {
  const aligned = encodeBase64(bytes);
  return [
    aligned,
    aligned.replace(/(?<!=)=+$/, ''),
    ...[0, 1, 2].map((offset) => {
      const text = encodeBase64(new Uint8Array([...new Uint8Array(offset), ...bytes]));
      const end = Math.floor(((offset + bytes.length) * 8) / 6);
      return text.slice(offset === 0 ? 0 : offset + 1, end);
    }),
  ];
}

const toUrlAlphabet = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

export interface Redacted<T> {
  readonly value: T;
  readonly count: number;
}

/** Replaces known secrets, in any spelling, in every string and member name of a value, and counts them. */
export function redactValue<T extends JsonValue>(value: T, secrets: KnownSecrets): Redacted<T> {
  if (secrets === null) return { value, count: 0 };
  let count = 0;
  const text = (from: string): string =>
    from.replace(secrets, () => {
      count += 1;
      return REDACTED;
    });
  const any = (from: JsonValue): JsonValue => {
    if (typeof from === 'string') return text(from);
    if (Array.isArray(from)) return from.map(any);
    if (!isJsonObject(from)) return from;
    const result: JsonObject = {};
    const uniqueName = createNamer(result);
    for (const [key, member] of Object.entries(from)) setMember(result, uniqueName(text(key)), any(member));
    return result;
  };
  return { value: any(value) as T, count };
}

export const replaceSecrets = (text: string, secrets: KnownSecrets): string =>
  secrets === null ? text : text.replace(secrets, REDACTED);

/** Names that have become equal get at most this many underscores, then numbers. */
const MAX_UNDERSCORES = 8;

/** Makes a function that makes a name unique in an object. The thousandth takes no longer than the first. */
export function createNamer(object: JsonObject): (name: string) => string {
  const numbers = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    for (let tries = 0; Object.hasOwn(object, name) && tries < MAX_UNDERSCORES; tries += 1) name += '_';
    while (Object.hasOwn(object, name)) {
      const number = (numbers.get(wanted) ?? MAX_UNDERSCORES) + 1;
      numbers.set(wanted, number);
      name = `${wanted}_${number}`;
    }
    return name;
  };
}
