import { isUtf8 } from '#native';
import type { ItemRanges } from '../item/encode-item.ts';
import { KIND } from '../item/value-rule.ts';
import {
  ASCII,
  BYTE_CLASS,
  BYTE_CLASSES,
  putCodePoint,
  putUnit,
  readHex,
  readUnicodeEscape,
} from '../json/ascii.ts';
import { NumberWriter } from '../json/canonical-number.ts';
import {
  copyRange,
  type FastRule,
  ITEM_RULE,
  isAt,
  type KeyOrder,
  type KnownKey,
  MAX_OBJECT_KEYS,
  MemberRanges,
  NO_KEY,
  ShapeNode,
} from './known-keys.ts';

const { TAB, LINE_FEED, CARRIAGE_RETURN, SPACE, QUOTE, BACKSLASH, SLASH } = ASCII;
const { COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;
const { MINUS, POINT, ZERO, NINE, LOWER_D, LOWER_E, LOWER_F, LOWER_N, LOWER_T, LOWER_U } = ASCII;
const { PLAIN, END, ESCAPE } = BYTE_CLASS;
const classes = BYTE_CLASSES;

/** Stands for the kind of a value that the reference path must read. */
const FALLBACK = 0;
const { string: STRING, integer: INTEGER, number: NUMBER, boolean: BOOLEAN, null: NULL } = KIND;
const { array: ARRAY, object: OBJECT } = KIND;

const INITIAL_BYTES = 1024 * 1024;
/** Room after the last line for its line feed and for reading four bytes at a time. */
const SPARE_BYTES = 16;
/** A buffer that grew larger, for a long line, is not kept. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** Integers up to 1e21 have no exponent in ECMAScript, nor do fractions from 1e-6. */
const MAX_PLAIN_DIGITS = 21;
const MAX_FIRST_DIGIT = 6;
/** Longer literals may be too long. */
const MAX_LITERAL = 1000;

/** 1 for letters after a backslash whose escape is the canonical one (RFC 8785 section 3.2.2.2). */
const CANONICAL_ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * Reads the tokens of JSON lines in UTF-8 and makes them canonical. A token that is canonical as written, as most are,
 * is a range of the line; any other is written after the lines, in the same buffer.
 *
 * The encoder extends this class, for the reason given at `JsonTokenizer`.
 */
abstract class ByteTokenizer {
  /** The lines, and after them what is written of an item. */
  protected bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  #linesEnd = 0;
  protected written = 0;
  /** The canonical text of the last value. */
  protected start = 0;
  protected end = 0;
  /** Position after the last value in its line. */
  protected next = 0;
  /** Whether the lines are UTF-8. If not, the reference path finds the faulty one. */
  protected isUtf8 = false;
  readonly #numbers: NumberWriter = new NumberWriter();

  protected loadLines(lines: Uint8Array): void {
    const needed = 2 * lines.length + SPARE_BYTES;
    if (this.bytes.length < needed || (this.bytes.length > MAX_KEPT_BYTES && needed <= INITIAL_BYTES)) {
      this.bytes = new Uint8Array(Math.max(needed, INITIAL_BYTES));
    }
    this.bytes.set(lines);
    // The last line has a line feed too, so that every loop ends there.
    this.bytes[lines.length] = LINE_FEED;
    this.#linesEnd = lines.length + 1;
    this.isUtf8 = isUtf8(lines);
  }

  protected rewind(): void {
    this.written = this.#linesEnd;
  }

  protected reserve(byteCount: number): void {
    if (this.written + byteCount <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.written + byteCount));
    grown.set(this.bytes.subarray(0, this.written));
    this.bytes = grown;
  }

  /** The position after the white space (RFC 8259 section 2) at `start`, at most the line feed. */
  protected skipWhitespace(start: number): number {
    const { bytes } = this;
    for (let position = start; ; position++) {
      const code = bytes[position] as number;
      if (code > SPACE || (code !== SPACE && code !== TAB && code !== CARRIAGE_RETURN)) return position;
    }
  }

  protected readString(open: number): number {
    const { bytes } = this;
    let position = open + 1;
    for (;;) {
      while (isPlainWord(bytes, position)) position += 4;
      let kind = classes[bytes[position] as number];
      while (kind === PLAIN) kind = classes[bytes[++position] as number];
      if (kind === END) {
        this.start = open;
        this.end = position + 1;
        this.next = position + 1;
        return STRING;
      }
      if (kind === ESCAPE) {
        if (CANONICAL_ESCAPES[bytes[position + 1] as number] !== 1)
          return this.#rewriteString(open, position);
        position += 2;
      } else return FALLBACK;
    }
  }

  /** Writes the string that opens at `open`, because the escape at `firstEscape` is not canonical. */
  #rewriteString(open: number, firstEscape: number): number {
    // No escape is longer in its canonical form.
    this.reserve(this.#linesEnd - open);
    const { bytes } = this;
    const start = this.written;
    let position = firstEscape;
    let copied = open;
    let to = start;
    for (;;) {
      let kind = classes[bytes[position] as number];
      while (kind === PLAIN) kind = classes[bytes[++position] as number];
      if (kind === ESCAPE) {
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
          const unit = letter === LOWER_U ? readHex(bytes, position + 2, 4) : -1;
          if (unit === -1) return FALLBACK;
          position += 6;
          const low = (unit & 0xfc00) === 0xd800 ? readUnicodeEscape(bytes, position) : -1;
          if ((low & 0xfc00) === 0xdc00) {
            position += 6;
            to = putCodePoint(bytes, to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
          } else to = putUnit(bytes, to, unit);
        }
        copied = position;
      } else if (kind === END) break;
      else return FALLBACK;
    }
    this.written = copyRange(bytes, to, copied, position + 1);
    this.start = start;
    this.end = this.written;
    this.next = position + 1;
    return STRING;
  }

  /**
   * Reads a number (RFC 8259 section 6), and makes it what `canonicalNumber` does. A plain decimal from 1e-6 to below
   * 1e21 stays as it is except zeros at its end, however many digits it has: the canonical text of such a value has no
   * exponent, whether a double holds it exactly or not.
   */
  protected readNumber(start: number): number {
    const { bytes } = this;
    let position = start;
    let code = bytes[position] as number;
    const isNegative = code === MINUS;
    if (isNegative) code = bytes[++position] as number;
    if (!(code >= ZERO && code <= NINE)) return FALLBACK;
    const first = position;
    const startsWithZero = code === ZERO;
    do code = bytes[++position] as number;
    while (code >= ZERO && code <= NINE);
    const digitCount = position - first;
    if (startsWithZero && digitCount > 1) return FALLBACK;

    this.start = start;
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
      if (position === point + 1) return FALLBACK;
      const isPlain = !startsWithZero || (firstOther !== -1 && firstOther - point <= MAX_FIRST_DIGIT);
      if (
        isPlain &&
        digitCount <= MAX_PLAIN_DIGITS &&
        position - start <= MAX_LITERAL &&
        (code | 32) !== LOWER_E
      ) {
        this.end = lastOther === point ? point : lastOther + 1;
        this.next = position;
        return NUMBER;
      }
    } else if (digitCount <= MAX_PLAIN_DIGITS && (code | 32) !== LOWER_E && !(isNegative && startsWithZero)) {
      this.end = position;
      this.next = position;
      return INTEGER;
    }
    return this.#rewriteNumber(start, position);
  }

  #rewriteNumber(start: number, mantissaEnd: number): number {
    const numbers = this.#numbers;
    this.reserve(NumberWriter.maxBytes);
    const end = numbers.write(this.bytes, start, mantissaEnd, this.written);
    if (end === -1) return FALLBACK;
    this.start = this.written;
    this.written = end;
    this.end = end;
    this.next = numbers.next;
    return NUMBER;
  }

  protected readWord(position: number, word: Uint8Array, kind: number): number {
    for (let index = 1; index < word.length; index++) {
      if (this.bytes[position + index] !== word[index]) return FALLBACK;
    }
    this.start = position;
    this.end = position + word.length;
    this.next = this.end;
    return kind;
  }
}

/** Whether the four bytes from `position` on are all plain. Four at a time are faster than one. */
function isPlainWord(bytes: Uint8Array, position: number): boolean {
  return (
    ((classes[bytes[position] as number] as number) |
      (classes[bytes[position + 1] as number] as number) |
      (classes[bytes[position + 2] as number] as number) |
      (classes[bytes[position + 3] as number] as number)) ===
    0
  );
}

/**
 * Levels of nesting on the fast path. The encoder recurses over untrusted bytes, so that the depth must be bounded far
 * below what the stack of a worker thread holds; items of real datasets have at most about ten levels.
 */
const MAX_FAST_DEPTH = 100;
/** About the memory of known keys before they are forgotten: nested objects whose keys are data have very many. */
const MAX_KEY_BYTES = 4 * 1024 * 1024;
/** Memory of a key besides its text. */
const KEY_OVERHEAD = 512;

/**
 * Encodes items straight from the bytes of their lines to canonical bytes, without making values of them: a second
 * parser, validator and canonicaliser next to the reference path of `parseJson`, `parseItem` and `ItemEncoder`. A text that
 * is canonical as written is a range of the line, and keys are compared with earlier ones at the same node of their shape
 * (see `ShapeNode`), so that objects with the keys of the object before are neither decoded nor sorted.
 *
 * It leaves all else to the reference path, every error included. docs/decisions/second-item-parser.md says what that is,
 * and what both cost. `fast-path.test.ts` compares the two, byte for byte and error for error.
 */
export class FastItemEncoder extends ByteTokenizer {
  readonly #members: MemberRanges = new MemberRanges();
  #maxDepth = MAX_FAST_DEPTH;
  readonly #rule: FastRule;
  #items: ShapeNode;
  #keyBytes = 0;
  #entryCount = 0;
  #assetCount = 0;

  constructor(rule: FastRule = ITEM_RULE) {
    super();
    this.#rule = rule;
    this.#items = new ShapeNode(rule, false);
  }

  load(lines: Uint8Array, maxDepth: number): void {
    this.loadLines(lines);
    this.#maxDepth = Math.min(maxDepth, MAX_FAST_DEPTH);
  }

  /** Returns the position of the line feed after the item, whose ranges end with the next call; -1 to fall back. */
  encode(start: number, item: ItemRanges): number {
    this.rewind();
    this.#members.count = 0;
    this.#assetCount = 0;
    if (this.#keyBytes > MAX_KEY_BYTES) {
      this.#items = new ShapeNode(this.#rule, true);
      this.#keyBytes = 0;
    }
    const open = this.skipWhitespace(start);
    if (this.bytes[open] !== OPEN_BRACE || this.#maxDepth === 0 || !this.isUtf8) return -1;
    const order = this.#readMembers(open, this.#items, 1);
    if (order === null) return -1;
    const lineEnd = this.skipWhitespace(this.next);
    if (this.bytes[lineEnd] !== LINE_FEED) return -1;
    this.#finishItem(item, open, order);
    return lineEnd;
  }

  /** Reads the value at `position`, inside `depth` arrays and objects. Returns its kind or FALLBACK. */
  #readValue(position: number, node: ShapeNode, depth: number): number {
    const code = this.bytes[position] as number;
    switch (code) {
      case QUOTE:
        return this.readString(position);
      case OPEN_BRACE:
        return depth < this.#maxDepth ? this.#readObject(position, node, depth) : FALLBACK;
      case OPEN_BRACKET:
        return depth < this.#maxDepth ? this.#readArray(position, node, depth) : FALLBACK;
      case LOWER_T:
        return this.readWord(position, TRUE, BOOLEAN);
      case LOWER_F:
        return this.readWord(position, FALSE, BOOLEAN);
      case LOWER_N:
        return this.readWord(position, NULL_WORD, NULL);
      default:
        return this.readNumber(position);
    }
  }

  #readObject(open: number, node: ShapeNode, depth: number): number {
    const members = this.#members;
    const first = members.count;
    const order = this.#readMembers(open, node, depth + 1);
    if (order === null) return FALLBACK;
    if (this.start === open && order.isSorted) {
      this.end = this.next;
    } else {
      this.reserve(members.textLength(first));
      this.start = this.written;
      this.written = members.writeObject(this.bytes, this.written, first, order.indexes, order.count);
      this.end = this.written;
    }
    this.#entryCount = order.count;
    members.count = first;
    return OBJECT;
  }

  /** The order of the members, now on the stack; null to fall back. `start` is `open` if only this may be wrong. */
  #readMembers(open: number, node: ShapeNode, depth: number): KeyOrder | null {
    const members = this.#members;
    const first = members.count;
    const { areKeysData } = node;
    let previous: KnownKey | null = null;
    let position = this.skipWhitespace(open + 1);
    let isVerbatim = position === open + 1;
    if (this.bytes[position] === CLOSE_BRACE) {
      this.next = position + 1;
      this.start = isVerbatim ? open : -1;
      return node.orderOf(members, this.bytes, first);
    }
    for (;;) {
      let { bytes } = this;
      if (bytes[position] !== QUOTE || members.count - first === MAX_OBJECT_KEYS) return null;
      const expected: KnownKey | null = previous === null ? node.first : previous.next;
      let key: KnownKey | null = expected;
      let keyStart = position;
      let keyEnd: number;
      let colon: number;
      let value: ShapeNode;
      if (key !== null && isAt(key.quoted, bytes, position)) {
        keyEnd = position + key.quoted.length;
        colon = this.skipWhitespace(keyEnd);
        value = key.value;
      } else {
        if (this.readString(position) === FALLBACK) return null;
        if (areKeysData) {
          if (hasEscape(this.bytes, this.start, this.end)) return null;
          key = node.find(this.bytes, this.start, this.end);
          value = key?.value ?? node.sharedValue;
        } else {
          key = this.#findKey(node);
          if (key === null) return null;
          if (key !== expected) node.follow(previous, key);
          value = key.value;
        }
        keyStart = this.start;
        keyEnd = this.end;
        colon = this.skipWhitespace(this.next);
        bytes = this.bytes;
      }
      previous = key;
      if (bytes[colon] !== COLON) return null;
      const valueStart = this.skipWhitespace(colon + 1);
      const kind = this.#readValue(valueStart, value, depth);
      if (kind === FALLBACK || (value.rule !== null && !this.#keepsRule(value.rule, kind))) return null;
      members.push(keyStart, keyEnd, this.start, this.end, key?.id ?? NO_KEY);

      // Writing may have replaced the buffer.
      bytes = this.bytes;
      const { next } = this;
      const separator = this.skipWhitespace(next);
      isVerbatim &&= keyStart === position && colon === keyEnd;
      isVerbatim &&= this.start === colon + 1 && this.end === next && separator === next;
      const code = bytes[separator];
      position = separator + 1;
      if (code === COMMA) {
        position = this.skipWhitespace(position);
        isVerbatim &&= position === separator + 1;
      } else if (code === CLOSE_BRACE) {
        this.next = position;
        this.start = isVerbatim ? open : -1;
        return node.orderOf(members, this.bytes, first);
      } else return null;
    }
  }

  #keepsRule(rule: FastRule, kind: number): boolean {
    if ((rule.kinds & kind) === 0) return false;
    if (rule.hasAssets === true) this.#assetCount = this.#entryCount;
    return rule.isUrl !== true || kind !== STRING || this.#isRemote();
  }

  /** Whether the URL that was read last is neither a data: URI, as its first character tells, nor a link to a file of a service. */
  #isRemote(): boolean {
    const { bytes, start, end } = this;
    return ((bytes[start + 1] as number) | 32) !== LOWER_D && !holds(bytes, start, end, ASSETS);
  }

  /** The key that was read last, which is noted if it is new. Null to fall back: too many keys, one with escapes. */
  #findKey(node: ShapeNode): KnownKey | null {
    const { bytes, start, end } = this;
    const known = node.find(bytes, start, end);
    if (known !== null || this.#keyBytes > MAX_KEY_BYTES || hasEscape(bytes, start, end)) return known;
    this.#keyBytes += KEY_OVERHEAD + end - start;
    return node.add(new Uint8Array(bytes.subarray(start, end)));
  }

  #readArray(open: number, node: ShapeNode, depth: number): number {
    const { items } = node;
    const { rule } = items;
    const members = this.#members;
    const first = members.count;
    let position = this.skipWhitespace(open + 1);
    let isVerbatim = position === open + 1;
    if (this.bytes[position] !== CLOSE_BRACKET) {
      for (;;) {
        const kind = this.#readValue(position, items, depth + 1);
        if (kind === FALLBACK || (rule !== null && !this.#keepsRule(rule, kind))) return FALLBACK;
        members.push(0, 0, this.start, this.end, 0);
        const { next } = this;
        const separator = this.skipWhitespace(next);
        isVerbatim &&= this.start === position && this.end === next && separator === next;
        const code = this.bytes[separator];
        position = separator + 1;
        if (code === COMMA) {
          position = this.skipWhitespace(position);
          isVerbatim &&= position === separator + 1;
        } else if (code === CLOSE_BRACKET) break;
        else return FALLBACK;
      }
    } else position += 1;
    this.next = position;
    if (isVerbatim) {
      this.start = open;
      this.end = position;
    } else {
      this.reserve(members.textLength(first));
      this.start = this.written;
      this.written = members.writeArray(this.bytes, this.written, first);
      this.end = this.written;
    }
    this.#entryCount = members.count - first;
    members.count = first;
    return ARRAY;
  }

  #finishItem(item: ItemRanges, open: number, order: KeyOrder): void {
    const isVerbatim = this.start === open && order.isSorted;
    item.itemStart = isVerbatim ? open : this.written;
    if (!isVerbatim) this.#writeItem(order.indexes, order.count);
    item.itemEnd = isVerbatim ? this.next : this.written;

    this.#setParts(item, order);
    item.assetCount = this.#assetCount;
    if (order.othersCount === order.count) {
      item.payloadStart = item.itemStart;
      item.payloadEnd = item.itemEnd;
    } else {
      item.payloadStart = this.written;
      this.#writePayload(item, order);
      item.payloadEnd = this.written;
    }
    item.bytes = this.bytes;
  }

  #setParts(item: ItemRanges, { type, answer, assets, checker }: KeyOrder): void {
    const members = this.#members;
    item.typeStart = type === -1 ? -1 : members.valueStart(type) + 1;
    item.typeEnd = type === -1 ? -1 : members.valueEnd(type) - 1;
    item.answerStart = answer === -1 ? -1 : members.valueStart(answer);
    item.answerEnd = answer === -1 ? -1 : members.valueEnd(answer);
    item.assetsStart = assets === -1 ? -1 : members.valueStart(assets);
    item.assetsEnd = assets === -1 ? -1 : members.valueEnd(assets);
    item.checkerStart = checker === -1 ? -1 : members.valueStart(checker);
    item.checkerEnd = checker === -1 ? -1 : members.valueEnd(checker);
  }

  /** Writes the item without its other parts: one copy if these are its first members, as they mostly are. */
  #writePayload(
    { itemStart, itemEnd }: ItemRanges,
    { indexes, others, othersCount, othersRank }: KeyOrder,
  ): void {
    if (othersRank === -1) {
      this.#writeItem(others, othersCount);
      return;
    }
    let othersStart = itemStart + 1;
    for (let rank = 0; rank < othersRank; rank++) {
      othersStart += this.#members.memberLength(indexes[rank] as number);
    }
    this.reserve(itemEnd - othersStart + 1);
    this.bytes[this.written] = OPEN_BRACE;
    this.written = copyRange(this.bytes, this.written + 1, othersStart, itemEnd);
  }

  #writeItem(indexes: Readonly<Int32Array>, count: number): void {
    this.reserve(this.#members.textLength(0));
    this.written = this.#members.writeObject(this.bytes, this.written, 0, indexes, count);
  }
}

/** What a link to a file of a service has in its path. */
const ASSETS: Uint8Array = new TextEncoder().encode('/assets/');

function holds(bytes: Uint8Array, start: number, end: number, some: Uint8Array): boolean {
  for (let at = start; at + some.length <= end; at += 1) if (isAt(some, bytes, at)) return true;
  return false;
}

function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === BACKSLASH) return true;
  return false;
}

const TRUE: Uint8Array = new TextEncoder().encode('true');
const FALSE: Uint8Array = new TextEncoder().encode('false');
const NULL_WORD: Uint8Array = new TextEncoder().encode('null');
