const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The members of an object, one after another, from its canonical JSON text in UTF-8. Nothing is decoded or copied. */
export class MemberCursor {
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  bytes: Uint8Array = new Uint8Array();
  /** -1 until somebody asks. */
  #valueEnd = 0;

  /** @param start of a value; one that is no object has no members */
  open(bytes: Uint8Array, start: number): void {
    this.bytes = bytes;
    this.#valueEnd = start;
  }

  next(): boolean {
    const { bytes, valueEnd } = this;
    const separator = bytes[valueEnd];
    if ((separator !== COMMA && separator !== OPEN_BRACE) || bytes[valueEnd + 1] !== QUOTE) return false;
    this.keyStart = valueEnd + 2;
    this.keyEnd = endOfString(bytes, this.keyStart - 1) - 1;
    this.valueStart = this.keyEnd + 2;
    this.#valueEnd = -1;
    return true;
  }

  get valueEnd(): number {
    if (this.#valueEnd === -1) this.#valueEnd = endOfValue(this.bytes, this.valueStart);
    return this.#valueEnd;
  }

  get isString(): boolean {
    return this.bytes[this.valueStart] === QUOTE;
  }

  get isFilledArray(): boolean {
    return this.bytes[this.valueStart] === OPEN_BRACKET && this.bytes[this.valueStart + 1] !== CLOSE_BRACKET;
  }

  /** @param name in UTF-8, which needs no escapes */
  isKey(name: Uint8Array): boolean {
    const length = this.keyEnd - this.keyStart;
    if (length !== name.length) return false;
    for (let at = 0; at < length; at += 1) if (this.bytes[this.keyStart + at] !== name[at]) return false;
    return true;
  }

  key(): string {
    const quoted = utf8(this.bytes, this.keyStart - 1, this.keyEnd + 1);
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  }
}

export function utf8({ buffer, byteOffset }: Uint8Array, start: number, end: number): string {
  return Buffer.from(buffer, byteOffset + start, end - start).toString();
}

/** Longer strings are searched by the runtime, for which a call costs more than a few bytes. */
const SHORT_BYTES = 24;

function endOfString(bytes: Uint8Array, quote: number): number {
  let at = quote + 1;
  for (const end = at + SHORT_BYTES; at < end; at += 1) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) at += 1;
  }
  for (at -= 1; ; ) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at === -1) return bytes.length;
    let before = at - 1;
    while (bytes[before] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
}

function endOfValue(bytes: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < bytes.length) {
    const code = bytes[at];
    if (code === QUOTE) at = endOfString(bytes, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      at += 1;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      at += 1;
    } else if (code === COMMA && depth === 0) return at;
    else at += 1;
  }
  return at;
}

const KIND = {
  string: 1,
  /** An integer that a double represents. */
  integer: 2,
  /** An integer of 64 bits beyond that. */
  longInteger: 4,
  /** A number with a fraction that a double represents. */
  double: 8,
  /** A number that neither type represents. */
  otherNumber: 16,
  boolean: 32,
  array: 64,
  object: 128,
} as const;

export type Kinds = number;

export type ValueType = 'string' | 'int64' | 'double' | 'bool' | 'json';

export function kindOf(bytes: Uint8Array, start: number, end: number): Kinds {
  switch (bytes[start]) {
    case 0x22:
      return KIND.string;
    case 0x5b:
      return KIND.array;
    case 0x7b:
      return KIND.object;
    case 0x74:
    case 0x66:
      return KIND.boolean;
    case 0x6e:
      return 0;
    default:
      return shortNumberKind(bytes, start, end) ?? numberKind(utf8(bytes, start, end));
  }
}

/** 64 bits have each integer of so many digits. */
const INT64_DIGITS = 18;
const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39];
const POWERS_OF_TEN = Array.from({ length: INT64_DIGITS + 1 }, (_, exponent) => Number(`1e${exponent}`));

/** The kind of a number of few digits, without a text of it; undefined for others. */
function shortNumberKind(bytes: Uint8Array, start: number, end: number): Kinds | undefined {
  const first = bytes[start] === MINUS ? start + 1 : start;
  if (end - first > INT64_DIGITS) return undefined;
  let point = -1;
  let digits = 0;
  for (let at = first; at < end; at += 1) {
    const code = bytes[at] as number;
    if (code === POINT && point === -1) point = at;
    else if (code >= ZERO && code <= NINE) digits = digits * 10 + (code - ZERO);
    else return undefined;
  }
  const isSafe = Number.isSafeInteger(digits);
  if (point === -1) return isSafe ? KIND.integer : KIND.longInteger;
  if (!isSafe || bytes[end - 1] === ZERO) return undefined;
  const unit = POWERS_OF_TEN[end - point - 1] as number;
  const value = digits / unit;
  // ECMAScript writes smaller numbers with an exponent.
  if (value < 1e-6) return undefined;
  // It is the shortest text of its double if both neighbours in the last digit are other doubles.
  return (digits - 1) / unit !== value && (digits + 1) / unit !== value ? KIND.double : undefined;
}

function numberKind(json: string): Kinds {
  if (/^-?\d+$/.test(json)) {
    if (Number.isSafeInteger(Number(json))) return KIND.integer;
    const value = json.length <= 20 ? BigInt(json) : undefined;
    return value !== undefined && BigInt.asIntN(64, value) === value ? KIND.longInteger : KIND.otherNumber;
  }
  // The canonical text of a double is the one of ECMAScript; an integer with an exponent has more than 64 bits.
  const value = Number(json);
  return String(value) === json && !Number.isInteger(value) ? KIND.double : KIND.otherNumber;
}

export function typeOf(kinds: Kinds): ValueType | null {
  const isOf = (...some: readonly Kinds[]): boolean =>
    (kinds & ~some.reduce((all, one) => all | one, 0)) === 0;
  if (kinds === 0) return null;
  if (isOf(KIND.string)) return 'string';
  if (isOf(KIND.boolean)) return 'bool';
  if (isOf(KIND.integer, KIND.longInteger)) return 'int64';
  if (isOf(KIND.integer, KIND.double)) return 'double';
  return 'json';
}

export function agree(kinds: Kinds): boolean {
  return kinds === KIND.array || kinds === KIND.object || !['json', null].includes(typeOf(kinds));
}

/** What kind of task an item is; `none` has no prompt. */
export const TASK_KINDS = { choices: 1, criteria: 2, text: 4, none: 8 } as const;

const [ID, CRITERIA, INPUTS, CHOICES, MESSAGES, PROMPT, META] = [
  ...['id', 'criteria', 'inputs', 'choices', 'messages', 'prompt', 'meta'],
].map((name) => Buffer.from(name)) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];

/** What an item is, from its canonical payload: its text without answer, checker and assets, in UTF-8. */
export class ItemScan {
  idStart = -1;
  idEnd = -1;
  /** Whether it has a prompt or messages, as `hasPrompt` tells of values. */
  hasPrompt = false;
  kind: number = TASK_KINDS.none;
  metaStart = -1;
  bytes: Uint8Array = new Uint8Array();
  readonly #item = new MemberCursor();
  readonly #inputs = new MemberCursor();

  read(bytes: Uint8Array, start: number): this {
    this.bytes = bytes;
    this.idStart = -1;
    this.idEnd = -1;
    this.hasPrompt = false;
    this.metaStart = -1;
    let hasCriteria = false;
    let kind: number = TASK_KINDS.none;
    const item = this.#item;
    item.open(bytes, start);
    while (item.next()) {
      if (item.isKey(CRITERIA)) hasCriteria = item.isFilledArray;
      else if (item.isKey(ID)) {
        this.idStart = item.valueStart;
        this.idEnd = item.valueEnd;
      } else if (item.isKey(INPUTS)) kind = this.#readInputs(item.valueStart);
      else if (item.isKey(META)) {
        this.metaStart = item.valueStart;
        break;
      }
    }
    this.kind = kind === TASK_KINDS.text && hasCriteria ? TASK_KINDS.criteria : kind;
    return this;
  }

  #readInputs(start: number): number {
    let hasChoices = false;
    const inputs = this.#inputs;
    inputs.open(this.bytes, start);
    while (inputs.next()) {
      if (inputs.isKey(CHOICES)) hasChoices = inputs.isFilledArray;
      else if (inputs.isKey(MESSAGES)) this.hasPrompt = inputs.isFilledArray;
      else if (inputs.isKey(PROMPT)) {
        // The members that count come in the order of their names.
        if (!inputs.isString) break;
        this.hasPrompt = true;
        return hasChoices ? TASK_KINDS.choices : TASK_KINDS.text;
      }
    }
    return TASK_KINDS.none;
  }
}
