import { copyRange } from '../fast/copy-range.ts';
import { type EncodedLine, LineSlot } from '../fast/encoded-line.ts';
import { ItemScanner } from '../fast/item-scanner.ts';
import { DEFAULT_ITEM_TYPE } from '../item/encode-item.ts';
import type { ItemRanges } from '../item/item-ranges.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { type JsonObject, setMember } from '../json/json-value.ts';
import { DEFAULT_MAX_DEPTH, JsonReader } from '../json/parse-json.ts';
import type { Cells } from './cell-writer.ts';
import { compileMapping, type MappableFeature, type Mapping, mappedColumns } from './compile-mapping.ts';

/** Rows of one split that stand side by side, as the cells of their columns: row by row. */
export interface CellBatch extends Cells {
  split: string;
  /** 0-based, in the split. */
  firstRow: number;
  rowCount: number;
  /** In the order in which the cells of a row stand. */
  columns: readonly string[];
}

/** Encodes the items of batches of rows, one batch after another. */
export interface CellEncoder {
  /**
   * The items of a batch, encoded. The same object is given for each of them, with other values: what is to stay must
   * be copied.
   *
   * @throws JsonlError as the function of `compileMapping` does
   */
  encode(batch: CellBatch): Generator<EncodedLine, void, undefined>;
}

/**
 * Makes an encoder that does for rows what `compileMapping` and `createItemEncoder` do one after the other, to the
 * byte, several times as fast: usual rows are put together from the texts of their cells, and only the others become
 * values on the way.
 *
 * Throws JsonlError as `compileMapping` does.
 */
export function createCellEncoder(mapping: Mapping, features: readonly MappableFeature[]): CellEncoder {
  const toItem = compileMapping(mapping, features);
  const template = new RowTemplate(mapping);
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const line = new LineSlot();

  function toRow(batch: CellBatch, row: number, reader: JsonReader): JsonObject {
    const { bytes, ends, columns } = batch;
    const object: JsonObject = {};
    for (const [index, column] of columns.entries()) {
      const cell = row * columns.length + index;
      const text = decoder.decode(bytes.subarray(cell === 0 ? 0 : ends[cell - 1], ends[cell]));
      reader.use(text);
      setMember(object, column, reader.read(0, text.length, {}));
    }
    return object;
  }

  return {
    *encode(batch) {
      const { firstRow, rowCount, split } = batch;
      const reader = new JsonReader('', MAX_CELL_DEPTH);
      template.load(batch);
      for (let row = 0; row < rowCount; row++) {
        if (template.fill(row)) line.takeRanges(template);
        else line.takeItem(toItem(toRow(batch, row, reader), firstRow + row, split));
        yield line;
      }
      line.release();
    },
  };
}

/** Cells are nested as deep as their column; what makes items too deep is for the mapping to say. */
const MAX_CELL_DEPTH = 1000;
/** Levels of an item around a cell, at most, and some to spare. */
const LEVELS_AROUND = 6;

const QUOTE = 34;
const COMMA = 44;
const ZERO = 48;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const LOWER_N = 110;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** A member of `meta`. */
interface MetaColumn {
  readonly name: string;
  /** The name as it is written, with its colon. */
  readonly key: Uint8Array;
  /** Whether its value has to be a string. */
  readonly isText: boolean;
}

/** For each use of a column where it stands in the batch; -1 where it is not used, or not there. */
interface ColumnIndexes {
  answer: number;
  id: number;
  choices: number;
  prompt: number;
  systemPrompt: number;
  meta: readonly number[];
}

/**
 * Puts the texts of a row's cells together to the canonical text of its item. It knows the usual rows and gives up
 * where a cell has to be looked into.
 */
class RowTemplate implements ItemRanges {
  wholeStart = 0;
  wholeEnd = 0;
  typeStart = 0;
  typeEnd = 0;
  payloadStart = 0;
  payloadEnd = 0;
  answerStart = -1;
  answerEnd = -1;
  readonly checkerStart = -1;
  readonly checkerEnd = -1;
  readonly assetsStart = -1;
  readonly assetsEnd = -1;

  readonly #mapping: Mapping;
  readonly #meta: readonly MetaColumn[];
  readonly #type: Uint8Array;
  readonly #scanner: ItemScanner = new ItemScanner();

  /** The cells, and behind them the item. */
  #bytes: Uint8Array = new Uint8Array();
  #cellsEnd = 0;
  #ends: Uint32Array = new Uint32Array();
  #columnCount = 0;
  #firstRow = 0;
  #columns: ColumnIndexes = { answer: -1, id: -1, choices: -1, prompt: -1, systemPrompt: -1, meta: [] };
  /** Whether there are rows that can be put together here. */
  #isUsual = false;
  /** `"id":"` and the split, or nothing where ids come from a column. */
  #id: Uint8Array = new Uint8Array();
  /** Where writing goes on. */
  #to = 0;
  /** The cell that was looked at last. */
  #start = 0;
  #end = 0;

  constructor(mapping: Mapping) {
    this.#mapping = mapping;
    this.#meta = [...new Set(mapping.metaColumns)]
      .sort()
      .map((name) => ({ name, key: utf8(`${canonicalJson(name)}:`), isText: name === 'judge_prompt' }));
    this.#type = utf8(`"type":${canonicalJson(mapping.defaultType ?? DEFAULT_ITEM_TYPE)}`);
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Takes the rows that `fill` is to put together. */
  load(batch: CellBatch): void {
    const { bytes, ends, firstRow, columns, split } = batch;
    const mapping = this.#mapping;
    const indexOf = (name: string | undefined): number => (name === undefined ? -1 : columns.indexOf(name));
    this.#columns = {
      answer: indexOf(mapping.answerColumn),
      id: indexOf(mapping.idColumn),
      choices: indexOf(mapping.choicesColumn),
      prompt: indexOf(mapping.promptColumn),
      systemPrompt: indexOf(mapping.systemPromptColumn),
      meta: this.#meta.map(({ name }) => indexOf(name)),
    };
    this.#isUsual =
      mapping.assetsColumn === undefined &&
      (mapping.criteriaColumns ?? []).length === 0 &&
      mappedColumns(mapping).every((name) => columns.includes(name));
    const id = canonicalJson(`${split}-`);
    this.#id = utf8(`"id":${id.slice(0, -1)}`);

    // The item is written once, and once more without its answer.
    const wanted = bytes.length + 2 * this.#largestItem(batch);
    if (this.#bytes.length < wanted || this.#bytes.length > 4 * wanted) this.#bytes = new Uint8Array(wanted);
    this.#bytes.set(bytes);
    this.#cellsEnd = bytes.length;
    this.#ends = ends;
    this.#columnCount = columns.length;
    this.#firstRow = firstRow;
  }

  /** No item of the batch takes more bytes. */
  #largestItem({ ends, columns }: CellBatch): number {
    const { answer, id, choices, prompt, systemPrompt, meta } = this.#columns;
    const uses = [answer, id, choices, prompt, systemPrompt, ...meta];
    let size = FIXED_BYTES + this.#type.length + this.#id.length;
    for (const { key } of this.#meta) size += key.length + 1;
    for (const index of columns.keys()) {
      let largest = 0;
      for (let cell = index; cell < ends.length; cell += columns.length) {
        largest = Math.max(largest, (ends[cell] as number) - (cell === 0 ? 0 : (ends[cell - 1] as number)));
      }
      size += largest * uses.filter((use) => use === index).length;
    }
    return size;
  }

  /** Puts the item of a row together; false where it gives up. */
  fill(row: number): boolean {
    if (!this.#isUsual) return false;
    const { answer } = this.#columns;
    this.#to = this.#cellsEnd;
    this.wholeStart = this.#to;
    this.#put(OPEN_BRACE);
    this.answerStart = -1;
    this.answerEnd = -1;
    let othersStart = this.#to;
    if (this.#find(answer, row)) {
      if (this.#isDeep()) return false;
      this.#putAll(ANSWER_KEY);
      this.answerStart = this.#to;
      this.#putCell();
      this.answerEnd = this.#to;
      this.#put(COMMA);
      othersStart = this.#to;
    }
    if (!this.#putId(row) || !this.#putInputs(row) || !this.#putMeta(row)) return false;
    this.#put(COMMA);
    this.#putAll(this.#type);
    this.typeStart = this.#to - this.#type.length + TYPE_KEY_BYTES + 1;
    this.typeEnd = this.#to - 1;
    this.#put(CLOSE_BRACE);
    this.wholeEnd = this.#to;
    if (this.answerStart === -1) {
      this.payloadStart = this.wholeStart;
      this.payloadEnd = this.wholeEnd;
    } else {
      this.payloadStart = this.#to;
      this.#put(OPEN_BRACE);
      this.payloadEnd = copyRange(this.#bytes, this.#to, othersStart, this.wholeEnd);
    }
    return true;
  }

  #putId(row: number): boolean {
    const { id } = this.#columns;
    if (id === -1) {
      this.#putAll(this.#id);
      this.#putInteger(this.#firstRow + row);
      this.#put(QUOTE);
      this.#put(COMMA);
    } else if (this.#find(id, row)) {
      const first = this.#first();
      if (first !== QUOTE && !this.#isInteger()) return false;
      this.#putAll(ID_KEY);
      this.#putCell();
      this.#put(COMMA);
    }
    return true;
  }

  #putInputs(row: number): boolean {
    const { choices, prompt, systemPrompt } = this.#columns;
    this.#putAll(INPUTS_KEY);
    if (this.#find(choices, row)) {
      const first = this.#first();
      if (first === OPEN_BRACE || this.#isDeep() || this.#mayBeJson()) return false;
      this.#putAll(CHOICES_KEY);
      if (first !== OPEN_BRACKET) this.#put(OPEN_BRACKET);
      this.#putCell();
      if (first !== OPEN_BRACKET) this.#put(CLOSE_BRACKET);
      this.#put(COMMA);
    }
    if (!this.#find(prompt, row)) return false;
    if (this.#first() === QUOTE) this.#putAll(PROMPT_KEY);
    else if (this.#isConversation()) this.#putAll(MESSAGES_KEY);
    else return false;
    this.#putCell();
    if (this.#find(systemPrompt, row)) {
      if (this.#first() !== QUOTE) return false;
      this.#put(COMMA);
      this.#putAll(SYSTEM_PROMPT_KEY);
      this.#putCell();
    }
    this.#put(CLOSE_BRACE);
    return true;
  }

  #putMeta(row: number): boolean {
    const { meta } = this.#columns;
    let count = 0;
    for (let index = 0; index < meta.length; index++) {
      if (!this.#find(meta[index] as number, row)) continue;
      const { key, isText } = this.#meta[index] as MetaColumn;
      if (this.#isDeep() || (isText && this.#first() !== QUOTE)) return false;
      if (count === 0) this.#putAll(META_KEY);
      else this.#put(COMMA);
      this.#putAll(key);
      this.#putCell();
      count++;
    }
    if (count > 0) this.#put(CLOSE_BRACE);
    return true;
  }

  /** Goes to a cell; false where there is none, or null. */
  #find(column: number, row: number): boolean {
    if (column === -1) return false;
    const cell = row * this.#columnCount + column;
    this.#start = cell === 0 ? 0 : (this.#ends[cell - 1] as number);
    this.#end = this.#ends[cell] as number;
    return this.#first() !== LOWER_N;
  }

  #first(): number {
    return this.#bytes[this.#start] as number;
  }

  /** Digits and perhaps a minus: no fraction, no exponent. */
  #isInteger(): boolean {
    for (let at = this.#start; at < this.#end; at++) {
      const code = this.#bytes[at] as number;
      if ((code < ZERO || code > 57) && (code !== 45 || at > this.#start)) return false;
    }
    return true;
  }

  /** A string that may hold an array in JSON, by its first character. */
  #mayBeJson(): boolean {
    const second = this.#bytes[this.#start + 1];
    return this.#first() === QUOTE && (second === OPEN_BRACKET || second === 32 || second === BACKSLASH);
  }

  /** Whether the cell may be nested so deep that its item is too deep. */
  #isDeep(): boolean {
    const first = this.#first();
    if (first !== OPEN_BRACKET && first !== OPEN_BRACE) return false;
    // A level takes two bytes at least.
    return (
      this.#end - this.#start > 2 * (DEFAULT_MAX_DEPTH - LEVELS_AROUND) &&
      this.#depth() > DEFAULT_MAX_DEPTH - LEVELS_AROUND
    );
  }

  #depth(): number {
    const bytes = this.#bytes;
    let depth = 0;
    let deepest = 0;
    for (let at = this.#start; at < this.#end; at++) {
      const code = bytes[at];
      if (code === OPEN_BRACKET || code === OPEN_BRACE) deepest = Math.max(deepest, ++depth);
      else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
      else if (code === QUOTE) {
        for (at++; bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
      }
    }
    return deepest;
  }

  /** Whether the cell is a list of `{role, content}`, by the rules for items. */
  #isConversation(): boolean {
    if (this.#first() !== OPEN_BRACKET || this.#end - this.#start === 2) return false;
    const item = new Uint8Array(CONVERSATION.length + this.#end - this.#start + 2);
    item.set(CONVERSATION);
    item.set(this.#bytes.subarray(this.#start, this.#end), CONVERSATION.length);
    item.fill(CLOSE_BRACE, -2);
    this.#scanner.load(item, DEFAULT_MAX_DEPTH);
    return this.#scanner.scan(0);
  }

  #put(byte: number): void {
    this.#bytes[this.#to++] = byte;
  }

  #putAll(added: Uint8Array): void {
    const bytes = this.#bytes;
    let to = this.#to;
    for (let index = 0; index < added.length; index++) bytes[to++] = added[index] as number;
    this.#to = to;
  }

  #putCell(): void {
    this.#to = copyRange(this.#bytes, this.#to, this.#start, this.#end);
  }

  #putInteger(value: number): void {
    const digits = String(value);
    for (let index = 0; index < digits.length; index++) this.#bytes[this.#to++] = digits.charCodeAt(index);
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const ANSWER_KEY = utf8('"answer":');
const ID_KEY = utf8('"id":');
const INPUTS_KEY = utf8('"inputs":{');
const CHOICES_KEY = utf8('"choices":');
const MESSAGES_KEY = utf8('"messages":');
const PROMPT_KEY = utf8('"prompt":');
const SYSTEM_PROMPT_KEY = utf8('"system_prompt":');
const META_KEY = utf8(',"meta":{');
const TYPE_KEY_BYTES = '"type":'.length;
const CONVERSATION = utf8('{"inputs":{"messages":');
/** All of these keys together, the digits of a row index, and what stands between members. */
const FIXED_BYTES = 256;
