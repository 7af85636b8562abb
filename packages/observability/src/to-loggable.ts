import { isSensitiveName, type Redactor } from './redact.ts';

/** What {@link toLoggable} returns: a tree that JSON can hold as it is. */
export type Loggable = null | boolean | number | string | Loggable[] | { [key: string]: Loggable };

export interface LoggableOptions {
  /** Removes secrets from every text. Names of members stay: programs look for them. */
  readonly redact: Redactor;
  /** Whether errors show their stack. */
  readonly stacks: boolean;
}

// Bounds of one line, so that people and log stores can read it. No serializer on npm limits the total.
const MAX_DEPTH = 8;
const MAX_ENTRIES = 100;
const MAX_STRING_CHARS = 8 * 1024;
const MAX_TOTAL_CHARS = 64 * 1024;
const MAX_OBJECTS = 2_000;

/**
 * Turns any value into one that JSON can hold. It never throws and never calls `toJSON`. It leaves out undefined values
 * and functions (in arrays they become null), and writes bigints as decimal strings, NaN and the infinities as their
 * names, dates as ISO 8601 or `invalid date`, errors as `{name, code, message, stack, cause, errors}`, bytes as their
 * count, maps as lists of pairs and sets as lists. Cycles, getters that throw, and values beyond the limits become a
 * mark.
 */
export function toLoggable(value: unknown, options: LoggableOptions): Loggable | undefined {
  return new Serializer(options).visit(value, 0);
}

/** Sets a member of any name: an assignment to `__proto__` would set the prototype. */
export function setMember(owner: { [key: string]: Loggable }, name: string, value: Loggable): void {
  if (name !== '__proto__') owner[name] = value;
  else Object.defineProperty(owner, name, { value, enumerable: true, writable: true, configurable: true });
}

class Serializer {
  readonly #redact: Redactor;
  readonly #errorMembers: readonly string[];
  readonly #ancestors = new Set<object>();
  #objects = 0;
  #chars = 0;

  constructor({ redact, stacks }: LoggableOptions) {
    this.#redact = redact;
    this.#errorMembers = ['name', 'code', 'message', ...(stacks ? ['stack'] : []), 'cause', 'errors'];
  }

  visit(value: unknown, depth: number): Loggable | undefined {
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
      return isHidden ? '[redacted]' : this.visit(value, depth);
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
