import type { Logform } from 'winston';
import type { ContextFields } from './context.ts';

export interface LineInfo extends Logform.TransformableInfo {
  readonly message: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string;
  readonly service: string;
  readonly context: ContextFields;
  readonly secrets: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

const MESSAGE = Symbol.for('message'); // where winston's transports look for the text of a line
const STANDARD_KEYS = ['timestamp', 'level', 'service', 'event'] as const;

/**
 * Formats a line: `timestamp`, `level`, `service`, `event`, the fields of the context, then the event's own fields in
 * their order. A field with the name of a standard key is written as `field_<name>`, so that it overwrites nothing; so is
 * a field whose name is a number, because JavaScript objects put such names first.
 *
 * The line is JSON. It escapes the characters that some readers take for line ends (U+0085, U+2028, U+2029). The format
 * never throws.
 */
export function lineFormat(
  redact: Redactor,
  contextFields: readonly string[] = [],
  format?: (line: Readonly<Record<string, unknown>>) => string,
): Logform.Format {
  const reserved: ReadonlySet<string> = new Set([...STANDARD_KEYS, ...contextFields]);
  return {
    transform(info) {
      const line = toLine(info as LineInfo, redact, contextFields, reserved);
      const text = format === undefined ? escapeLineEnds(JSON.stringify(line)) : inOneLine(format(line));
      return Object.assign(info, { [MESSAGE]: text });
    },
  };
}

function toLine(
  info: LineInfo,
  processRedact: Redactor,
  contextFields: readonly string[],
  reserved: ReadonlySet<string>,
): Record<string, Loggable> {
  const { timestamp, level, service, message: event } = info;
  const redact = withSecrets(processRedact, info.secrets);
  const stacks = level === 'error';
  const line: Record<string, Loggable> = { timestamp, level, service, event };
  const context = new Serializer(redact, stacks).visit(info.context);
  if (isRecord(context)) {
    for (const name of contextFields) {
      const value = context[name];
      if (value !== undefined) line[name] = value;
    }
    for (const [name, value] of Object.entries(context)) {
      if (!contextFields.includes(name)) setMember(line, freeName(name, line, reserved), value);
    }
  }
  const fields = new Serializer(redact, stacks).visit(info.fields);
  if (isRecord(fields)) {
    for (const [name, value] of Object.entries(fields))
      setMember(line, freeName(name, line, reserved), value);
  }
  return line;
}

function isRecord(value: Loggable | undefined): value is { [key: string]: Loggable } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function withSecrets(redact: Redactor, secrets: readonly string[]): Redactor {
  if (secrets.length === 0) return redact;
  const own = createRedactor(secrets);
  return (text) => redact(own(text));
}

/** A name that no standard key and no earlier field has. */
function freeName(name: string, line: object, reserved: ReadonlySet<string>): string {
  let free = reserved.has(name) || /^\d+$/.test(name) ? `field_${name}` : name;
  while (Object.hasOwn(line, free)) free = `field_${free}`;
  return free;
}

/** Neither a further line nor an escape sequence of a terminal. */
const inOneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');

function escapeLineEnds(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A tree that JSON can hold as it is. */
type Loggable = null | boolean | number | string | Loggable[] | { [key: string]: Loggable };

// Bounds of one line, so that people and log stores can read it. No serializer on npm limits the total.
const MAX_DEPTH = 8;
const MAX_ENTRIES = 100;
const MAX_STRING_CHARS = 8 * 1024;
const MAX_TOTAL_CHARS = 64 * 1024;
const MAX_OBJECTS = 2_000;

/** Sets a member of any name: an assignment to `__proto__` would set the prototype. */
function setMember(owner: { [key: string]: Loggable }, name: string, value: Loggable): void {
  if (name !== '__proto__') owner[name] = value;
  else Object.defineProperty(owner, name, { value, enumerable: true, writable: true, configurable: true });
}

/**
 * Turns any value into one that JSON can hold. It never throws and never calls `toJSON`. It leaves out undefined values
 * and functions (in arrays they become null), and writes bigints as decimal strings, NaN and the infinities as their
 * names, dates as ISO 8601 or `invalid date`, errors as `{name, code, message, stack, cause, errors}`, bytes as their
 * count, maps as lists of pairs and sets as lists. Cycles, getters that throw, and values beyond the limits become a
 * mark.
 */
class Serializer {
  readonly #redact: Redactor;
  readonly #errorMembers: readonly string[];
  readonly #ancestors = new Set<object>();
  #objects = 0;
  #chars = 0;

  /**
   * @param redact removes secrets from every text; names of members stay, because programs look for them
   * @param stacks whether errors show their stack
   */
  constructor(redact: Redactor, stacks: boolean) {
    this.#redact = redact;
    this.#errorMembers = ['name', 'code', 'message', ...(stacks ? ['stack'] : []), 'cause', 'errors'];
  }

  visit(value: unknown, depth = 0): Loggable | undefined {
    switch (typeof value) {
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'string':
      case 'bigint':
      case 'symbol':
        return this.#text(String(value));
      case 'object':
        return value === null ? null : this.#object(value, depth);
      default:
        return undefined;
    }
  }

  #object(value: object, depth: number): Loggable {
    if (this.#ancestors.has(value)) return '[cycle]';
    if (depth >= MAX_DEPTH) return '[too deep]';
    this.#objects += 1;
    if (this.#objects > MAX_OBJECTS) return '[too much]';
    this.#ancestors.add(value);
    try {
      return this.#contents(value, depth + 1);
    } catch {
      return '[unreadable]'; // a trap or a getter threw, or the proxy was revoked
    } finally {
      this.#ancestors.delete(value);
    }
  }

  #contents(value: object, depth: number): Loggable {
    if (Array.isArray(value)) return this.#list(value, value.length, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
    if (value instanceof Error) return this.#members(value, this.#errorMembers, depth);
    if (value instanceof URL) return this.#text(value.href);
    if (value instanceof RegExp) return this.#text(String(value));
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (value instanceof Map) return this.#list(value.entries(), value.size, depth);
    if (value instanceof Set) return this.#list(value.values(), value.size, depth);
    return this.#members(value, Object.keys(value), depth);
  }

  #list(values: Iterable<unknown>, length: number, depth: number): Loggable[] {
    const result: Loggable[] = [];
    for (const value of values) {
      if (result.length === MAX_ENTRIES) {
        result.push(`[${length - result.length} more]`);
        break;
      }
      result.push(this.visit(value, depth) ?? null);
    }
    return result;
  }

  #members(owner: object, names: readonly string[], depth: number): Loggable {
    const result: { [key: string]: Loggable } = {};
    for (const name of names.slice(0, MAX_ENTRIES)) {
      const member = this.#member(owner, name, depth);
      if (member !== undefined) setMember(result, this.#name(name), member);
    }
    if (names.length > MAX_ENTRIES) result['…'] = `[${names.length - MAX_ENTRIES} more]`;
    return result;
  }

  #member(owner: object, name: string, depth: number): Loggable | undefined {
    try {
      const value: unknown = Reflect.get(owner, name);
      const isHidden = typeof value === 'string' && value !== '' && isSensitiveName(name);
      return isHidden ? MARK : this.visit(value, depth);
    } catch {
      return '[unreadable]';
    }
  }

  /** Redacts before it cuts, so that no part of a secret is left at the cut. */
  #text(text: string): string {
    return this.#name(this.#redact(text));
  }

  #name(clean: string): string {
    const maxChars = Math.min(MAX_STRING_CHARS, MAX_TOTAL_CHARS - this.#chars);
    this.#chars += Math.min(clean.length, maxChars);
    return clean.length <= maxChars
      ? clean
      : `${clean.slice(0, maxChars)}… [${clean.length - maxChars} more characters]`;
  }
}

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
