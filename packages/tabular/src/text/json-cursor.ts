import { MAX_LINE_VALUES } from '@svc/jsonl-v23/internal';
import { invalidRow } from './raw-row.ts';

/** The text of one JSON value, and where it begins. */
export interface JsonText {
  text: string;
  line: number;
  column: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const LF = 10;

/**
 * Walks over JSON text as it arrives and cuts values out of it, without understanding them: brackets are counted, texts
 * passed over. Whether a value is JSON is for its reader to find. Holds one piece of text, and the value being cut.
 */
export class JsonCursor {
  readonly #pieces: AsyncIterator<string>;
  readonly #file: string;
  readonly #maxSize: number;
  #text = '';
  #at = 0;
  #line = 1;
  /** Column of the character at #at, less #at. */
  #columnBase = 1;

  constructor(pieces: AsyncIterator<string>, file: string, maxSize: number) {
    this.#pieces = pieces;
    this.#file = file;
    this.#maxSize = maxSize;
  }

  /** The next character that is no white space, without passing it; undefined at the end. */
  async peek(): Promise<string | undefined> {
    for (;;) {
      for (; this.#at < this.#text.length; this.#at += 1) {
        const code = this.#text.charCodeAt(this.#at);
        if (code === LF) this.#passNewline(this.#at);
        else if (code !== 32 && code !== 9 && code !== 13) return this.#text.charAt(this.#at);
      }
      if (!(await this.#more())) return undefined;
    }
  }

  /** Passes the character that `peek` showed. */
  pass(): void {
    this.#at += 1;
  }

  /** Where the cursor stands. */
  location(): { file: string; line: number; column: number } {
    return { file: this.#file, line: this.#line, column: this.#at + this.#columnBase };
  }

  /**
   * Cuts out the value at which `peek` stopped.
   *
   * @param keep whether the text is wanted; a value that is only passed over may be of any size
   * @throws TableError `invalid_row` where the text ends inside the value, or the value is longer than allowed
   */
  async value(keep = true): Promise<JsonText> {
    const { line, column } = this.location();
    const parts: string[] = [];
    let size = 0;
    let depth = 0;
    // As jsonl-v23 counts the values of a line.
    let values = 1;
    let inText = false;
    let escaped = false;
    let started = false;
    for (;;) {
      const start = this.#at;
      let done = false;
      while (this.#at < this.#text.length && !done) {
        const code = this.#text.charCodeAt(this.#at);
        if (inText) {
          if (escaped) escaped = false;
          else if (code === BACKSLASH) escaped = true;
          else if (code === QUOTE) {
            inText = false;
            done = depth === 0;
          }
        } else if (depth === 0 && started) {
          // A number or a word goes on until something else begins; that is not part of it.
          if (endsScalar(code)) break;
        } else if (code === QUOTE) {
          inText = true;
        } else if (code === 91 || code === 123) {
          depth += 1;
          values += 1;
        } else if (code === 93 || code === 125) {
          depth -= 1;
          done = depth <= 0;
        } else if (code === 44) values += 1;
        started = true;
        if (code === LF) this.#passNewline(this.#at);
        this.#at += 1;
      }
      size += this.#at - start;
      if (keep) {
        parts.push(this.#text.slice(start, this.#at));
        if (size > this.#maxSize) {
          throw invalidRow(`The value is longer than ${this.#maxSize} characters`, {
            file: this.#file,
            line,
          });
        }
        if (values > MAX_LINE_VALUES) {
          throw invalidRow(`The value holds more than ${MAX_LINE_VALUES} values`, { file: this.#file, line });
        }
      }
      if (done || this.#at < this.#text.length) break;
      if (!(await this.#more())) {
        if (depth > 0 || inText) {
          throw invalidRow('The file ends inside a value', { file: this.#file, line });
        }
        break;
      }
    }
    return { text: parts.join(''), line, column };
  }

  #passNewline(at: number): void {
    this.#line += 1;
    this.#columnBase = -at;
  }

  async #more(): Promise<boolean> {
    const next = await this.#pieces.next();
    if (next.done === true) return false;
    this.#columnBase += this.#text.length;
    this.#text = next.value;
    this.#at = 0;
    return true;
  }
}

/** White space, quotes, brackets, a comma or a colon: what cannot be part of a number or a word. */
function endsScalar(code: number): boolean {
  return (
    code <= 32 ||
    code === QUOTE ||
    code === 44 ||
    code === 58 ||
    code === 91 ||
    code === 93 ||
    code === 123 ||
    code === 125
  );
}
