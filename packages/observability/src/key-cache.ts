import { isSensitiveName, type Redactor } from './redact.ts';

/** What is to be known of a name before it is logged. */
export interface KnownName {
  /** without secrets */
  readonly text: string;
  /** whether it says that its value is a secret */
  readonly isSensitive: boolean;
}

const MAX_NAMES = 1000;
const MAX_NAME_CHARS = 64;

/** Remembers the names of fields, which are few and come again with every line. */
export class KeyCache {
  readonly #redact: Redactor;
  readonly #known = new Map<string, KnownName>();

  constructor(redact: Redactor) {
    this.#redact = redact;
  }

  of(name: string): KnownName {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const found = { text: this.#redact(name), isSensitive: isSensitiveName(name) };
    if (name.length <= MAX_NAME_CHARS && this.#known.size < MAX_NAMES) this.#known.set(name, found);
    return found;
  }
}
