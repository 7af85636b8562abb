import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';

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

/** Finds the spellings of secrets: as they are, in JSON text, percent-encoded, and in base64 and base64url. */
export function spellingsOf(secrets: readonly string[]): KnownSecrets {
  const known = secrets.filter((secret) => secret !== '');
  const inside = known
    .filter((secret) => secret.length >= MIN_INSIDE_LENGTH)
    .flatMap((secret) => {
      const wellFormed = secret.toWellFormed();
      const base64 = toBase64(wellFormed);
      const unpadded = base64.replace(/(?<!=)=+$/, '');
      return [
        secret,
        JSON.stringify(secret).slice(1, -1),
        encodeURIComponent(wellFormed),
        base64,
        unpadded,
        unpadded.replaceAll('+', '-').replaceAll('/', '_'),
      ];
    });
  return { inside: [...new Set(inside)].sort((a, b) => b.length - a.length), whole: new Set(known) };
}

function toBase64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

/** Makes a function that replaces known secrets, in any spelling, in every string and member name of a value. */
export function createRedactor(secrets: readonly string[]): <T extends JsonValue>(value: T) => T {
  const spellings = spellingsOf(secrets);
  const redact = (value: JsonValue): JsonValue => {
    if (typeof value === 'string')
      return spellings.whole.has(value) ? REDACTED : replaceSecrets(value, spellings);
    if (Array.isArray(value)) return value.map(redact);
    if (!isJsonObject(value)) return value;
    const result: JsonObject = {};
    const uniqueName = createNamer(result);
    for (const [key, member] of Object.entries(value)) {
      setMember(result, uniqueName(replaceSecrets(key, spellings)), redact(member));
    }
    return result;
  };
  return spellings.whole.size === 0 ? (value) => value : (redact as <T extends JsonValue>(value: T) => T);
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
