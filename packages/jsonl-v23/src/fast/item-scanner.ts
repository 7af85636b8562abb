import { JsonlError } from '../errors.ts';
import type { ItemRanges } from '../item/item-ranges.ts';
import { ITEM_SCHEMA } from '../item/item-schema.ts';
import { compileRule, KIND, type ValueRule } from '../item/value-rule.ts';
import {
  BYTE_CLASS,
  isPlainWord as isPlain4,
  BYTE_CLASSES as STRING_BYTES,
} from '../json/canonical/string-bytes.ts';

const { END: ENDS, ESCAPE: ESCAPES, MULTIBYTE: LEADS, CONTROL: REFUSED } = BYTE_CLASS;

import { canonicalNumber } from '../json/canonical-number.ts';
import { sequenceEnd } from '../json/utf8.ts';
import { copyRange } from './copy-range.ts';
import { type KeyNode, type KeyOrder, MOST_REMEMBERED_KEYS, ValueSite } from './value-site.ts';

/** Arrays and objects inside one another that are read here; the scanner recurses. */
const MAX_SCAN_DEPTH = 100;
const START_BYTES = 1024 * 1024;
/** Room for the line feed behind the last line. */
const SPARE_BYTES = 16;
/** A buffer that a long line made grow beyond this is not kept. */
const KEPT_BYTES = 4 * 1024 * 1024;
/** Keys that are remembered, over all places; then the memory starts anew. */
const MOST_KEYS = 8 * 1024;
const LINE_FEED = 10;
const SPACE = 32;
const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const SLASH = 47;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LOWER_E = 101;
const LOWER_U = 117;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Letters behind a backslash whose escape is the canonical one (RFC 8785 section 3.2.2.2). */
const isCanonicalEscape = (byte: number | undefined): boolean =>
  byte === QUOTE || byte === BACKSLASH || (byte !== undefined && 'bfnrt'.includes(String.fromCharCode(byte)));
const CANONICAL_ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => (isCanonicalEscape(byte) ? 1 : 0));

/**
 * Writes items in canonical form straight from their lines, without making values of them. It reads what is usual and
 * gives up where anything is not: an error, assets, a checker that is an object, keys with escapes, unusual depth. What
 * it does read comes out as `parseJson`, `parseItem` and `CanonicalWriter` together would write it.
 *
 * Texts that are canonical as they stand, which most are, are never copied byte by byte: they are ranges of the line.
 */
export class ItemScanner implements ItemRanges {
  wholeStart = 0;
  wholeEnd = 0;
  typeStart = -1;
  typeEnd = -1;
  payloadStart = 0;
  payloadEnd = 0;
  answerStart = -1;
  answerEnd = -1;
  checkerStart = -1;
  checkerEnd = -1;
  /** Items with assets are not read here. */
  readonly assetsStart = -1;
  readonly assetsEnd = -1;
  /** Where the item's line ends: at its line feed. */
  lineEnd = 0;

  #bytes: Uint8Array = new Uint8Array(START_BYTES);
  /** The lines stand at the beginning of the buffer, what is written of an item behind them. */
  #linesEnd = 0;
  #written = 0;
  #maxDepth = MAX_SCAN_DEPTH;

  #items: ValueSite = new ValueSite(ITEM_RULE);
  #keyCount = 0;
  /** For each member or array item that is being put together: where its key and its value start and end. */
  #parts: Int32Array = new Int32Array(4 * 1024);
  #partCount = 0;

  /** The value that was read last: its canonical text, and where the line goes on. */
  #start = 0;
  #end = 0;
  #next = 0;

  /** The buffer that ranges are in; scanning may exchange it. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Takes the lines that `scan` is to read. */
  load(lines: Uint8Array, maxDepth: number): void {
    const wanted = 2 * lines.length + SPARE_BYTES;
    if (this.#bytes.length < wanted || (this.#bytes.length > KEPT_BYTES && wanted <= START_BYTES)) {
      this.#bytes = new Uint8Array(Math.max(wanted, START_BYTES));
    }
    this.#bytes.set(lines);
    // Behind the last line, too, there is a line feed, at which everything stops.
    this.#bytes[lines.length] = LINE_FEED;
    this.#linesEnd = lines.length + 1;
    this.#maxDepth = Math.min(maxDepth, MAX_SCAN_DEPTH);
    if (this.#keyCount > MOST_KEYS) {
      this.#items = new ValueSite(ITEM_RULE);
      this.#keyCount = 0;
    }
  }

  /** Reads the item whose line is from `start` to the next line feed; false where it gives up. */
  scan(start: number): boolean {
    this.#written = this.#linesEnd;
    this.#partCount = 0;
    const open = this.#skipBlanks(start);
    if (this.#bytes[open] !== OPEN_BRACE || this.#maxDepth === 0) return false;
    const last = this.#readMembers(open, this.#items, 1);
    if (last === null) return false;
    this.lineEnd = this.#skipBlanks(this.#next);
    if (this.#bytes[this.lineEnd] !== LINE_FEED) return false;
    this.#finishItem(open, last.order);
    return true;
  }

  /** Reads the value at `position`, inside `depth` arrays and objects; gives its kind, or 0 to give up. */
  #readValue(position: number, site: ValueSite, depth: number): number {
    const code = this.#bytes[position] as number;
    switch (code) {
      case QUOTE:
        return this.#readString(position) ? KIND.string : 0;
      case OPEN_BRACE:
        return depth < this.#maxDepth && this.#readObject(position, site, depth) ? KIND.object : 0;
      case OPEN_BRACKET:
        return depth < this.#maxDepth && this.#readArray(position, site, depth) ? KIND.array : 0;
      case 116:
        return this.#readWord(position, TRUE, KIND.boolean);
      case 102:
        return this.#readWord(position, FALSE, KIND.boolean);
      case 110:
        return this.#readWord(position, NULL, KIND.null);
      default:
        return this.#readNumber(position);
    }
  }

  #readObject(open: number, site: ValueSite, depth: number): boolean {
    const firstPart = this.#partCount;
    const last = this.#readMembers(open, site, depth + 1);
    if (last === null) return false;
    const { order } = last;
    if (!order.isComplete) return false;
    if (this.#start === open && order.isSorted) {
      this.#end = this.#next;
    } else {
      const start = this.#written;
      this.#writeMembers(firstPart, order.indexes);
      this.#start = start;
      this.#end = this.#written;
    }
    this.#partCount = firstPart;
    return true;
  }

  /**
   * Reads the members of the object that opens at `open`, and puts their ranges on the stack. Gives the node of the
   * last key, or null to give up. `#start` is `open` where nothing but the order may keep the text from being canonical.
   */
  #readMembers(open: number, site: ValueSite, depth: number): KeyNode | null {
    let node = site.root;
    let position = this.#skipBlanks(open + 1);
    let asItStands = position === open + 1;
    if (this.#bytes[position] === CLOSE_BRACE) {
      this.#next = position + 1;
      this.#start = asItStands ? open : -1;
      return node;
    }
    for (;;) {
      let bytes = this.#bytes;
      if (bytes[position] !== QUOTE) return null;
      const found = node.find(bytes, position) ?? this.#addKey(node, position);
      if (found === null) return null;
      node = found;
      const keyEnd = position + node.quoted.length;
      const colon = this.#skipBlanks(keyEnd);
      if (bytes[colon] !== COLON) return null;
      const valueStart = this.#skipBlanks(colon + 1);
      const { value } = node;
      const kind = this.#readValue(valueStart, value, depth);
      if (kind === 0 || (value.rule !== null && (value.rule.kinds & kind) === 0)) return null;
      this.#putPart(position, keyEnd, this.#start, this.#end);

      bytes = this.#bytes;
      const next = this.#next;
      const separator = this.#skipBlanks(next);
      asItStands &&=
        colon === keyEnd && this.#start === colon + 1 && this.#end === next && separator === next;
      const code = bytes[separator];
      position = separator + 1;
      if (code === COMMA) {
        position = this.#skipBlanks(position);
        asItStands &&= position === separator + 1;
      } else if (code === CLOSE_BRACE) {
        this.#next = position;
        this.#start = asItStands ? open : -1;
        return node;
      } else return null;
    }
  }

  /** Remembers the key at `position` behind `node`; null to give up: a repeated key, or one that is hard to read. */
  #addKey(node: KeyNode, position: number): KeyNode | null {
    if (node.count === MOST_REMEMBERED_KEYS) return null;
    const bytes = this.#bytes;
    let end = position + 1;
    for (let kind = 0; kind !== ENDS; ) {
      kind = STRING_BYTES[bytes[end] as number] as number;
      if (kind === ESCAPES || kind === REFUSED) return null;
      if (kind === LEADS) {
        end = sequenceEnd(bytes, end);
        if (end === -1) return null;
      } else end++;
    }
    this.#keyCount++;
    const quoted = bytes.slice(position, end);
    return node.add(new TextDecoder('utf-8', { ignoreBOM: true }).decode(quoted.subarray(1, -1)), quoted);
  }

  #readArray(open: number, site: ValueSite, depth: number): boolean {
    const { items } = site;
    const kinds = items.rule?.kinds ?? -1;
    const firstPart = this.#partCount;
    let position = this.#skipBlanks(open + 1);
    let asItStands = position === open + 1;
    if (this.#bytes[position] !== CLOSE_BRACKET) {
      for (;;) {
        const kind = this.#readValue(position, items, depth + 1);
        if (kind === 0 || (kinds & kind) === 0) return false;
        this.#putPart(0, 0, this.#start, this.#end);
        const next = this.#next;
        const separator = this.#skipBlanks(next);
        asItStands &&= this.#start === position && this.#end === next && separator === next;
        const code = this.#bytes[separator];
        position = separator + 1;
        if (code === COMMA) {
          position = this.#skipBlanks(position);
          asItStands &&= position === separator + 1;
        } else if (code === CLOSE_BRACKET) break;
        else return false;
      }
    } else position++;
    this.#next = position;
    if (asItStands) {
      this.#start = open;
      this.#end = position;
    } else this.#writeItems(firstPart);
    this.#partCount = firstPart;
    return true;
  }

  #readString(open: number): boolean {
    const bytes = this.#bytes;
    let position = open + 1;
    for (;;) {
      // Behind the last line feed there is room for what is read too far.
      while (isPlain4(bytes, position)) position += 4;
      let kind = STRING_BYTES[bytes[position] as number];
      while (kind === 0) kind = STRING_BYTES[bytes[++position] as number];
      if (kind === ENDS) {
        this.#start = open;
        this.#end = position + 1;
        this.#next = position + 1;
        return true;
      }
      if (kind === LEADS) {
        position = sequenceEnd(bytes, position);
        if (position === -1) return false;
      } else if (kind === ESCAPES) {
        if (CANONICAL_ESCAPES[bytes[position + 1] as number] !== 1)
          return this.#rewriteString(open, position);
        position += 2;
      } else return false;
    }
  }

  /** Writes the string that opens at `open` anew, as an escape at `position` is, or may be, not the canonical one. */
  #rewriteString(open: number, firstEscape: number): boolean {
    // No escape is longer in its canonical form.
    this.#reserve(this.#linesEnd - open);
    const bytes = this.#bytes;
    const start = this.#written;
    let position = firstEscape;
    let copied = open;
    let to = start;
    for (;;) {
      let kind = STRING_BYTES[bytes[position] as number];
      while (kind === 0) kind = STRING_BYTES[bytes[++position] as number];
      if (kind === LEADS) {
        position = sequenceEnd(bytes, position);
        if (position === -1) return false;
      } else if (kind === ESCAPES) {
        const letter = bytes[position + 1] as number;
        if (CANONICAL_ESCAPES[letter] === 1) {
          position += 2;
          continue;
        }
        to = copyRange(bytes, to, copied, position);
        if (letter === SLASH) {
          bytes[to++] = SLASH;
          position += 2;
        } else {
          const unit = letter === LOWER_U ? readHex(bytes, position + 2) : -1;
          if (unit === -1) return false;
          position += 6;
          const isPair =
            (unit & 0xfc00) === 0xd800 && bytes[position] === BACKSLASH && bytes[position + 1] === LOWER_U;
          const low = isPair ? readHex(bytes, position + 2) : -1;
          if ((low & 0xfc00) === 0xdc00) {
            position += 6;
            to = putCodePoint(bytes, to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
          } else to = putUnit(bytes, to, unit);
        }
        copied = position;
      } else if (kind === ENDS) break;
      else return false;
    }
    this.#written = copyRange(bytes, to, copied, position + 1);
    this.#start = start;
    this.#end = this.#written;
    this.#next = position + 1;
    return true;
  }

  /** RFC 8259 section 6, as `canonicalNumber` writes it. Short literals are canonical but for zeros at their end. */
  #readNumber(start: number): number {
    const bytes = this.#bytes;
    let position = start;
    let code = bytes[position] as number;
    const isNegative = code === MINUS;
    if (isNegative) code = bytes[++position] as number;
    if (!(code >= ZERO && code <= NINE)) return 0;
    const first = position;
    const startsWithZero = code === ZERO;
    do code = bytes[++position] as number;
    while (code >= ZERO && code <= NINE);
    const digitCount = position - first;
    if (startsWithZero && digitCount > 1) return 0;

    this.#start = start;
    if (code === POINT) {
      const point = position;
      let firstOther = -1;
      let lastOther = point;
      for (;;) {
        code = bytes[++position] as number;
        if (code > ZERO && code <= NINE) {
          lastOther = position;
          if (firstOther === -1) firstOther = position;
        } else if (code !== ZERO) break;
      }
      const fractionCount = position - point - 1;
      if (fractionCount === 0) return 0;
      // Fifteen digits survive a double, so its shortest form is the literal's; from 1e-7 on that has an exponent.
      const isPlain = !startsWithZero || (firstOther !== -1 && firstOther - point <= 6);
      if (isPlain && digitCount + fractionCount <= 15 && (code | 32) !== LOWER_E) {
        this.#end = lastOther === point ? point : lastOther + 1;
        this.#next = position;
        return KIND.number;
      }
    } else if (digitCount <= 15 && (code | 32) !== LOWER_E && !(isNegative && startsWithZero)) {
      this.#end = position;
      this.#next = position;
      return KIND.integer;
    }
    return this.#rewriteNumber(start, position);
  }

  #rewriteNumber(start: number, knownEnd: number): number {
    let position = knownEnd;
    for (;;) {
      const code = this.#bytes[position] as number;
      const isPart = (code >= ZERO && code <= NINE) || code === POINT || code === MINUS || code === PLUS;
      if (!isPart && (code | 32) !== LOWER_E) break;
      position++;
    }
    let literal = '';
    for (let at = start; at < position; at++) literal += String.fromCharCode(this.#bytes[at] as number);
    let text: string;
    try {
      text = canonicalNumber(literal);
    } catch (error) {
      if (error instanceof JsonlError) return 0;
      throw error;
    }
    this.#reserve(text.length);
    this.#start = this.#written;
    for (let at = 0; at < text.length; at++) this.#bytes[this.#written++] = text.charCodeAt(at);
    this.#end = this.#written;
    this.#next = position;
    return KIND.number;
  }

  #readWord(position: number, word: Uint8Array, kind: number): number {
    for (let index = 1; index < word.length; index++) {
      if (this.#bytes[position + index] !== word[index]) return 0;
    }
    this.#start = position;
    this.#end = position + word.length;
    this.#next = this.#end;
    return kind;
  }

  /** The position behind the white space (RFC 8259 section 2) at `position`, but for line feeds: a line ends there. */
  #skipBlanks(start: number): number {
    const bytes = this.#bytes;
    let position = start;
    for (;;) {
      const code = bytes[position] as number;
      if (code > SPACE || (code !== SPACE && code !== 9 && code !== 13)) return position;
      position++;
    }
  }

  #putPart(keyStart: number, keyEnd: number, start: number, end: number): void {
    let at = 4 * this.#partCount++;
    if (at === this.#parts.length) {
      const larger = new Int32Array(2 * at);
      larger.set(this.#parts);
      this.#parts = larger;
    }
    const parts = this.#parts;
    parts[at++] = keyStart;
    parts[at++] = keyEnd;
    parts[at++] = start;
    parts[at] = end;
  }

  /** Writes an object of members on the stack, which begin at `firstPart`: those at `indexes`, in that order. */
  #writeMembers(firstPart: number, indexes: readonly number[]): void {
    const parts = this.#parts;
    let size = 2;
    for (let part = firstPart; part < this.#partCount; part++) {
      const at = 4 * part;
      size += (parts[at + 1] as number) - (parts[at] as number) + 2;
      size += (parts[at + 3] as number) - (parts[at + 2] as number);
    }
    this.#reserve(size);
    const bytes = this.#bytes;
    let to = this.#written;
    bytes[to++] = OPEN_BRACE;
    for (let place = 0; place < indexes.length; place++) {
      if (place > 0) bytes[to++] = COMMA;
      const at = 4 * (firstPart + (indexes[place] as number));
      to = copyRange(bytes, to, parts[at] as number, parts[at + 1] as number);
      bytes[to++] = COLON;
      to = copyRange(bytes, to, parts[at + 2] as number, parts[at + 3] as number);
    }
    bytes[to++] = CLOSE_BRACE;
    this.#written = to;
  }

  #writeItems(firstPart: number): void {
    const parts = this.#parts;
    let size = 2;
    for (let part = firstPart; part < this.#partCount; part++) {
      size += (parts[4 * part + 3] as number) - (parts[4 * part + 2] as number) + 1;
    }
    this.#reserve(size);
    const bytes = this.#bytes;
    this.#start = this.#written;
    let to = this.#written;
    bytes[to++] = OPEN_BRACKET;
    for (let part = firstPart; part < this.#partCount; part++) {
      if (part > firstPart) bytes[to++] = COMMA;
      to = copyRange(bytes, to, parts[4 * part + 2] as number, parts[4 * part + 3] as number);
    }
    bytes[to++] = CLOSE_BRACKET;
    this.#written = to;
    this.#end = to;
  }

  /** Tells the parts of an item apart, whose members are on the stack. */
  #finishItem(open: number, { keys, indexes, isSorted }: KeyOrder): void {
    const asItStands = this.#start === open && isSorted;
    this.wholeStart = asItStands ? open : this.#written;
    if (!asItStands) this.#writeMembers(0, indexes);
    this.wholeEnd = asItStands ? this.#next : this.#written;

    this.typeStart = -1;
    this.typeEnd = -1;
    this.answerStart = -1;
    this.answerEnd = -1;
    this.checkerStart = -1;
    this.checkerEnd = -1;
    const parts = this.#parts;
    // Parts of their own stand at the beginning, mostly: then the others are one range of the whole.
    let position = this.wholeStart + 1;
    let othersStart = position;
    let othersCount = 0;
    let inOneRange = true;
    for (let place = 0; place < keys.length; place++) {
      const at = 4 * (indexes[place] as number);
      const start = parts[at + 2] as number;
      const end = parts[at + 3] as number;
      position += (parts[at + 1] as number) - (parts[at] as number) + 1 + end - start + 1;
      const key = keys[place];
      if (key === 'answer') {
        this.answerStart = start;
        this.answerEnd = end;
      } else if (key === 'checker') {
        this.checkerStart = start;
        this.checkerEnd = end;
      } else {
        if (key === 'type') {
          this.typeStart = start + 1;
          this.typeEnd = end - 1;
        }
        othersCount++;
        continue;
      }
      if (othersCount > 0) inOneRange = false;
      othersStart = position;
    }
    if (this.answerStart === -1 && this.checkerStart === -1) {
      this.payloadStart = this.wholeStart;
      this.payloadEnd = this.wholeEnd;
      return;
    }
    this.payloadStart = this.#written;
    if (inOneRange && othersCount > 0) {
      this.#reserve(this.wholeEnd - othersStart + 1);
      const bytes = this.#bytes;
      bytes[this.#written] = OPEN_BRACE;
      this.#written = copyRange(bytes, this.#written + 1, othersStart, this.wholeEnd);
    } else {
      const isOther = (_: number, place: number): boolean =>
        keys[place] !== 'answer' && keys[place] !== 'checker';
      this.#writeMembers(0, indexes.filter(isOther));
    }
    this.payloadEnd = this.#written;
  }

  #reserve(byteCount: number): void {
    if (this.#written + byteCount <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#written + byteCount));
    grown.set(this.#bytes.subarray(0, this.#written));
    this.#bytes = grown;
  }
}

const TRUE = new TextEncoder().encode('true');
const FALSE = new TextEncoder().encode('false');
const NULL = new TextEncoder().encode('null');

/** The schema's rules, but for what only values can be checked and normalised for: assets, and checkers with files. */
const ITEM_RULE: ValueRule = (() => {
  const rule = compileRule(ITEM_SCHEMA);
  const members = new Map(rule.members);
  members.set('assets', { ...(members.get('assets') as ValueRule), kinds: 0 });
  members.set('checker', { ...(members.get('checker') as ValueRule), kinds: KIND.string | KIND.null });
  return { ...rule, members };
})();

/** The number that four hexadecimal digits say, or -1. */
function readHex(bytes: Uint8Array, start: number): number {
  let value = 0;
  for (let position = start; position < start + 4; position++) {
    const code = bytes[position] as number;
    const lower = code | 32;
    if (code >= ZERO && code <= NINE) value = (value << 4) | (code - ZERO);
    else if (lower >= 97 && lower <= 102) value = (value << 4) | (lower - 87);
    else return -1;
  }
  return value;
}

/** Writes the character of a `\u` escape as RFC 8785 does, and gives the position behind it. */
function putUnit(bytes: Uint8Array, start: number, unit: number): number {
  const short = SHORT_ESCAPES.get(unit);
  if (short !== undefined) {
    bytes[start] = BACKSLASH;
    bytes[start + 1] = short;
    return start + 2;
  }
  if (unit >= SPACE && (unit & 0xf800) !== 0xd800) return putCodePoint(bytes, start, unit);
  // A control character or a lone surrogate.
  bytes[start] = BACKSLASH;
  bytes[start + 1] = LOWER_U;
  for (let digit = 0; digit < 4; digit++) {
    const value = (unit >> (12 - 4 * digit)) & 15;
    bytes[start + 2 + digit] = value < 10 ? ZERO + value : 87 + value;
  }
  return start + 6;
}

const SHORT_ESCAPES: ReadonlyMap<number, number> = new Map([
  [8, 98],
  [9, 116],
  [10, 110],
  [12, 102],
  [13, 114],
  [QUOTE, QUOTE],
  [BACKSLASH, BACKSLASH],
]);

/** Writes a character in UTF-8, and gives the position behind it. */
function putCodePoint(bytes: Uint8Array, start: number, point: number): number {
  let position = start;
  if (point < 0x80) bytes[position++] = point;
  else {
    if (point < 0x800) bytes[position++] = 0xc0 | (point >> 6);
    else {
      if (point < 0x10000) bytes[position++] = 0xe0 | (point >> 12);
      else {
        bytes[position++] = 0xf0 | (point >> 18);
        bytes[position++] = 0x80 | ((point >> 12) & 63);
      }
      bytes[position++] = 0x80 | ((point >> 6) & 63);
    }
    bytes[position++] = 0x80 | (point & 63);
  }
  return position;
}
