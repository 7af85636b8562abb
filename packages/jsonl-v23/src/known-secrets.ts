import { isJsonObject, type JsonObject, type JsonValue, setMember } from './json/json-value.ts';
import { encodeBase64 } from './media/base64.ts';

/** What replaces a secret. */
export const REDACTED = '[redacted]';

/** Known secrets in every spelling. */
export interface KnownSecrets {
  /** Replaced anywhere in a text. Longest first: if one secret contains another, the whole of it is replaced. */
  readonly inside: readonly string[];
  /** Replaced only if they are the whole text. */
  readonly whole: ReadonlySet<string>;
}

/** Shorter secrets occur in ordinary text by chance. */
const MIN_INSIDE_LENGTH = 4;

/**
 * Finds the spellings of secrets: as they are, in JSON text, percent-encoded, and in base64 and base64url, also as a part
 * of a longer text.
 */
export function spellingsOf(secrets: readonly string[]): KnownSecrets {
  const known = secrets.filter((secret) => secret !== '');
  const inside = known
    .filter((secret) => secret.length >= MIN_INSIDE_LENGTH)
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
  return { inside: [...new Set(inside)].sort((a, b) => b.length - a.length), whole: new Set(known) };
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

/** Replaces known secrets, in any spelling, in every string and member name of a value. */
export function redactValue<T extends JsonValue>(value: T, secrets: KnownSecrets): T {
  return secrets.whole.size === 0 ? value : (redactAny(value, secrets) as T);
}

function redactAny(value: JsonValue, secrets: KnownSecrets): JsonValue {
  if (typeof value === 'string') return secrets.whole.has(value) ? REDACTED : replaceSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((member) => redactAny(member, secrets));
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  const uniqueName = createNamer(result);
  for (const [key, member] of Object.entries(value)) {
    setMember(result, uniqueName(replaceSecrets(key, secrets)), redactAny(member, secrets));
  }
  return result;
}

/** Replaces every secret in a text. */
export function replaceSecrets(text: string, { inside }: KnownSecrets): string {
  let result = text;
  for (const secret of inside) if (result.includes(secret)) result = result.replaceAll(secret, REDACTED);
  return result;
}

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
