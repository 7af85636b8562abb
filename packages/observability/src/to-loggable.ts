import type { KeyCache } from './key-cache.ts';
import type { Redactor } from './redact.ts';

/** What {@link toJsonSafe} gives: a tree that `JSON.stringify` writes as it stands. */
export type Loggable = null | boolean | number | string | Loggable[] | { [key: string]: Loggable };

/** Bounds of one logged value, so that one line stays one that a person and a log store can hold. */
interface JsonSafeLimits {
  readonly maxDepth: number;
  readonly maxStringChars: number;
  readonly maxEntries: number;
  readonly maxNodes: number;
  readonly maxTotalChars: number;
}

const DEFAULT_JSON_SAFE_LIMITS: JsonSafeLimits = Object.freeze({
  maxDepth: 8,
  maxStringChars: 8 * 1024,
  maxEntries: 100,
  maxNodes: 2_000,
  maxTotalChars: 64 * 1024,
});

/** How {@link toJsonSafe} treats what it finds. */
export interface JsonSafeOptions {
  /** Takes secrets out of every string and key. */
  readonly redact: Redactor;
  /** what `redact` makes of names */
  readonly names: KeyCache;
  /** Whether errors show their stack. */
  readonly stacks: boolean;
  readonly limits?: JsonSafeLimits;
}

/**
 * Turns any value into one that JSON can hold, without throwing and without calling `toJSON`: undefined and
 * functions are left out of objects and null in arrays; bigints are decimal strings; NaN and the infinities
 * their names; dates ISO 8601 or `invalid date`; errors `{name, code, message, stack, cause}`; bytes their
 * count; maps lists of pairs, sets lists. A cycle, a getter that throws, and what goes beyond the limits
 * leave a mark in their place.
 */
export function toJsonSafe(value: unknown, options: JsonSafeOptions): Loggable | undefined {
  return new Walk(options).visit(value, 0);
}

/**
 * Sets a member whatever its name: an assignment to `__proto__` would set the prototype. An ordinary object is used,
 * and not one without a prototype, because `JSON.stringify` writes it twice as fast.
 */
function setMember(owner: { [key: string]: Loggable }, name: string, value: Loggable): void {
  if (name === '__proto__') {
    Object.defineProperty(owner, name, { value, enumerable: true, writable: true, configurable: true });
  } else owner[name] = value;
}

class Walk {
  readonly #redact: Redactor;
  readonly #names: KeyCache;
  readonly #stacks: boolean;
  readonly #limits: JsonSafeLimits;
  readonly #above = new Set<object>();
  #nodes = 0;
  #chars = 0;

  constructor(options: JsonSafeOptions) {
    this.#redact = options.redact;
    this.#names = options.names;
    this.#stacks = options.stacks;
    this.#limits = options.limits ?? DEFAULT_JSON_SAFE_LIMITS;
  }

  visit(value: unknown, depth: number): Loggable | undefined {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return Number.isFinite(value) ? value : String(value);
      case 'boolean':
        return value;
      case 'bigint':
        return this.#text(value.toString());
      case 'symbol':
        return this.#text(value.toString());
      case 'undefined':
      case 'function':
        return undefined;
      default:
        return value === null ? null : this.#object(value as object, depth);
    }
  }

  #object(value: object, depth: number): Loggable {
    if (this.#above.has(value)) return '[cycle]';
    if (depth >= this.#limits.maxDepth) return '[too deep]';
    if (++this.#nodes > this.#limits.maxNodes) return '[too much]';
    this.#above.add(value);
    try {
      return this.#contents(value, depth + 1);
    } catch {
      return '[unreadable]'; // a trap or a getter threw, or the proxy was revoked
    } finally {
      this.#above.delete(value);
    }
  }

  #contents(value: object, depth: number): Loggable {
    if (Array.isArray(value)) return this.#list(value, value.length, depth);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof URL) return this.#text(value.href);
    if (value instanceof RegExp) return this.#text(String(value));
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
    if (value instanceof Map) return this.#list(value.entries(), value.size, depth);
    if (value instanceof Set) return this.#list(value.values(), value.size, depth);
    return this.#members(value, depth);
  }

  #list(values: Iterable<unknown>, length: number, depth: number): Loggable[] {
    const result: Loggable[] = [];
    for (const value of values) {
      if (result.length === this.#limits.maxEntries) {
        result.push(`[${length - result.length} more]`);
        break;
      }
      result.push(this.visit(value, depth) ?? null);
    }
    return result;
  }

  #members(value: object, depth: number): Loggable {
    const result: { [key: string]: Loggable } = {};
    const all = Object.keys(value);
    const keys = all.length > this.#limits.maxEntries ? all.slice(0, this.#limits.maxEntries) : all;
    for (const key of keys) {
      const member = this.#member(value, key, depth);
      if (member !== undefined) setMember(result, this.#name(key), member);
    }
    const left = all.length - keys.length;
    if (left > 0) result['…'] = `[${left} more]`;
    return result;
  }

  #member(owner: object, key: string, depth: number): Loggable | undefined {
    let value: unknown;
    try {
      value = (owner as Record<string, unknown>)[key];
    } catch {
      return '[unreadable]';
    }
    const isHidden = typeof value === 'string' && value !== '' && this.#names.of(key).isSensitive;
    return isHidden ? '[redacted]' : this.visit(value, depth);
  }

  #error(error: Error, depth: number): Loggable {
    const result: { [key: string]: Loggable } = {};
    const names = ['name', 'code', 'message', ...(this.#stacks ? ['stack'] : []), 'cause', 'errors'];
    for (const name of names) {
      const member = this.#member(error, name, depth);
      if (member !== undefined) result[name] = member;
    }
    return result;
  }

  #name(name: string): string {
    return this.#cut(this.#names.of(name).text);
  }

  #text(text: string): string {
    return this.#cut(this.#redact(text)); // before it is cut, so that no part of a secret survives at the cut
  }

  #cut(clean: string): string {
    const left = Math.max(0, this.#limits.maxTotalChars - this.#chars);
    const maxChars = Math.min(this.#limits.maxStringChars, left);
    this.#chars += Math.min(clean.length, maxChars);
    return clean.length <= maxChars
      ? clean
      : `${clean.slice(0, maxChars)}… [${clean.length - maxChars} more characters]`;
  }
}
