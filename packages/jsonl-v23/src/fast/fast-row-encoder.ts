import { ASCII } from '../json/ascii.ts';
import { DEFAULT_MAX_DEPTH } from '../json/parse-json.ts';
import { nestingDepth } from '../json/value-scanner.ts';
import type { CellBatch } from '../mapping/cell-batch.ts';
import type { ColumnType, Mapping } from '../mapping/mapping.ts';
import { CellBuffer } from './cell-buffer.ts';
import { copyRange } from './copy-range.ts';
import { FastItem } from './fast-item.ts';
import { FastItemEncoder } from './fast-item-encoder.ts';
import {
  ITEM_KEYS,
  type MappingPlan,
  type MetaMember,
  planMapping,
  type TypedColumn,
} from './mapping-plan.ts';

const {
  SPACE,
  QUOTE,
  COMMA,
  BACKSLASH,
  OPEN_BRACKET,
  CLOSE_BRACKET,
  OPEN_BRACE,
  CLOSE_BRACE,
  MINUS,
  ZERO,
  NINE,
  LOWER_T,
  LOWER_F,
} = ASCII;

// Constants of this module, for the reason given at ASCII.
const { answer: answerKey, id: ID_KEY, inputs: INPUTS_KEY, choices: CHOICES_KEY } = ITEM_KEYS;
const {
  messages: MESSAGES_KEY,
  prompt: PROMPT_KEY,
  systemPrompt: SYSTEM_PROMPT_KEY,
  meta: META_KEY,
} = ITEM_KEYS;

/** An item has at most this many levels around a cell, with some to spare. */
const LEVELS_AROUND = 6;
const MAX_CELL_DEPTH = DEFAULT_MAX_DEPTH - LEVELS_AROUND;
/** Integers of this length are within 64 bits. */
const MAX_INT64_BYTES = 18;
/** The bound for items of a batch adds the longest cells of all columns, and batches have some MiB. */
const MAX_SLACK_BYTES = 8 * 1024 * 1024;
const TYPE_KEY_BYTES = '"type":'.length;
const CONVERSATION: Uint8Array = new TextEncoder().encode('{"inputs":{"messages":');

/**
 * Encodes the items of rows by joining the texts of their cells, which are canonical already, without making values of
 * them. The reference path is `compileMapping` and `createItemEncoder`.
 *
 * It falls back for a whole batch if the mapping has assets, criteria, templates, a rule for answers or the like, or a
 * column is missing, and for a row wherever a cell would have to be converted: a cell of another type than its column's, a prompt that is neither a string nor a conversation, an id that is neither a string
 * nor an integer, choices that may be JSON in a string or an object, a system or judge prompt that is not a string, a
 * cell that may be nested too deep.
 *
 * Rows of two text cells take 0.22 of the CPU time of the reference path; rows that fall back 1.1. How it is tested: see
 * `FastItemEncoder`.
 */
export class FastRowEncoder extends CellBuffer {
  readonly #mapping: Mapping;
  readonly #item: FastItem = new FastItem();
  readonly #messagesEncoder: FastItemEncoder = new FastItemEncoder();
  readonly #maxItemBytes: number;
  #plan: MappingPlan | null = null;
  #firstRow = 0;

  /** @param maxItemBytes leaves batches with a longer item to the reference path, which ends before it has written all of it */
  constructor(mapping: Mapping, maxItemBytes: number = Number.POSITIVE_INFINITY) {
    super();
    this.#mapping = mapping;
    this.#maxItemBytes = maxItemBytes;
  }

  /** Loads the rows that `encode` is to read. */
  load(batch: CellBatch): void {
    const plan = planMapping(this.#mapping, batch);
    this.#plan = plan.maxItemBytes > this.#maxItemBytes + MAX_SLACK_BYTES ? null : plan;
    if (this.#plan === null) return;
    // The item is written once, and once more without its answer.
    this.loadCells(batch.bytes, batch.ends, batch.columns.length, 2 * plan.maxItemBytes);
    this.#firstRow = batch.firstRow;
  }

  /** Encodes the item of a row. The result is valid until the next call. */
  encode(row: number): FastItem {
    const item = this.#item;
    const plan = this.#plan;
    item.fallback = plan === null || !plan.isSupported || !this.#putItem(plan, row);
    return item;
  }

  #putItem(plan: MappingPlan, row: number): boolean {
    const item = this.#item;
    if (!this.#hasTypes(plan, row)) return false;
    this.rewind();
    item.itemStart = this.written;
    this.put(OPEN_BRACE);
    item.answerStart = -1;
    item.answerEnd = -1;
    let othersStart = this.written;
    if (this.find(plan.answer, row)) {
      if (this.#mayBeTooDeep()) return false;
      this.putAll(answerKey);
      item.answerStart = this.written;
      this.putCell();
      item.answerEnd = this.written;
      this.put(COMMA);
      othersStart = this.written;
    }
    if (!this.#putId(plan, row) || !this.#putInputs(plan, row) || !this.#putMeta(plan.meta, row))
      return false;
    this.put(COMMA);
    this.putAll(plan.tags);
    this.putAll(plan.type);
    item.typeStart = this.written - plan.type.length + TYPE_KEY_BYTES + 1;
    item.typeEnd = this.written - 1;
    this.put(CLOSE_BRACE);
    item.itemEnd = this.written;
    if (item.answerStart === -1) {
      item.payloadStart = item.itemStart;
      item.payloadEnd = item.itemEnd;
    } else {
      item.payloadStart = this.written;
      this.put(OPEN_BRACE);
      item.payloadEnd = copyRange(this.bytes, this.written, othersStart, item.itemEnd);
    }
    item.bytes = this.bytes;
    return true;
  }

  /** Whether the cells of all typed columns are of their types as they are written. */
  #hasTypes({ typed }: MappingPlan, row: number): boolean {
    for (let index = 0; index < typed.length; index++) {
      const { column, type } = typed[index] as TypedColumn;
      if (this.find(column, row) && !this.#isOfType(type)) return false;
    }
    return true;
  }

  #isOfType(type: ColumnType): boolean {
    const { first } = this;
    switch (type) {
      case 'string':
        return first === QUOTE;
      case 'int64':
        return this.end - this.start <= MAX_INT64_BYTES && this.isInteger();
      case 'float64':
        return first === MINUS || (first >= ZERO && first <= NINE);
      case 'bool':
        return first === LOWER_T || first === LOWER_F;
      case 'json':
        return first !== QUOTE;
    }
  }

  #putId({ id, idPrefix }: MappingPlan, row: number): boolean {
    if (id === -1) {
      this.putAll(idPrefix);
      this.putInteger(this.#firstRow + row);
      this.put(QUOTE);
      this.put(COMMA);
    } else if (this.find(id, row)) {
      if (this.first !== QUOTE && !this.isInteger()) return false;
      this.putAll(ID_KEY);
      this.putCell();
      this.put(COMMA);
    }
    return true;
  }

  #putInputs({ choices, prompt, systemPrompt }: MappingPlan, row: number): boolean {
    this.putAll(INPUTS_KEY);
    if (this.find(choices, row)) {
      const { first } = this;
      if (first === OPEN_BRACE || this.#mayBeTooDeep() || this.#mayBeJson()) return false;
      this.putAll(CHOICES_KEY);
      if (first !== OPEN_BRACKET) this.put(OPEN_BRACKET);
      this.putCell();
      if (first !== OPEN_BRACKET) this.put(CLOSE_BRACKET);
      this.put(COMMA);
    }
    if (!this.find(prompt, row)) return false;
    if (this.first === QUOTE) this.putAll(PROMPT_KEY);
    else if (this.#isConversation()) this.putAll(MESSAGES_KEY);
    else return false;
    this.putCell();
    if (this.find(systemPrompt, row)) {
      if (this.first !== QUOTE) return false;
      this.put(COMMA);
      this.putAll(SYSTEM_PROMPT_KEY);
      this.putCell();
    }
    this.put(CLOSE_BRACE);
    return true;
  }

  #putMeta(members: readonly MetaMember[], row: number): boolean {
    let count = 0;
    for (let index = 0; index < members.length; index++) {
      const member = members[index] as MetaMember;
      if (!this.find(member.column, row)) continue;
      if (this.#mayBeTooDeep() || (member.isText && this.first !== QUOTE)) return false;
      if (count === 0) this.putAll(META_KEY);
      else this.put(COMMA);
      this.putAll(member.key);
      this.putCell();
      count += 1;
    }
    if (count > 0) this.put(CLOSE_BRACE);
    return true;
  }

  /** Whether the cell is a string that may contain an array in JSON, by its first character. */
  #mayBeJson(): boolean {
    const second = this.bytes[this.start + 1];
    return this.first === QUOTE && (second === OPEN_BRACKET || second === SPACE || second === BACKSLASH);
  }

  /** Whether the item may be nested too deep because of the cell. */
  #mayBeTooDeep(): boolean {
    const { first } = this;
    if (first !== OPEN_BRACKET && first !== OPEN_BRACE) return false;
    // A level takes at least two bytes.
    return this.end - this.start > 2 * MAX_CELL_DEPTH && nestingDepth(this.cellText()) > MAX_CELL_DEPTH;
  }

  /** Whether the cell is a list of `{role, content}`, by the rules for items. */
  #isConversation(): boolean {
    if (this.first !== OPEN_BRACKET || this.end - this.start === 2) return false;
    const item = new Uint8Array(CONVERSATION.length + this.end - this.start + 2);
    item.set(CONVERSATION);
    item.set(this.bytes.subarray(this.start, this.end), CONVERSATION.length);
    item.fill(CLOSE_BRACE, -2);
    this.#messagesEncoder.load(item, DEFAULT_MAX_DEPTH);
    return !this.#messagesEncoder.encode(0).fallback;
  }
}
