import { DEFAULT_ITEM_TYPE } from '../item/encode-item.ts';
import { ASCII } from '../json/ascii.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { Utf8Buffer } from '../json/canonical/utf8-buffer.ts';
import type { CellBatch } from './cell-batch.ts';
import { type ColumnType, columnUses, type Mapping, mappedColumns, metaEntries } from './mapping.ts';

const { SPACE, QUOTE, COMMA, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE } = ASCII;
const { MINUS, ZERO, NINE, LOWER_F, LOWER_N, LOWER_T } = ASCII;

/** Integers of this length are within 64 bits. */
const MAX_INT64_BYTES = 18;
/** An item may have fewer bytes than its row, which may have columns that the mapping does not use. */
const MAX_SLACK_BYTES = 8 * 1024 * 1024;

/** Members of a mapping that need the values of cells. */
const NEEDS_VALUES = [
  'assetsColumn',
  'criteriaColumns',
  'promptTemplate',
  'systemPromptTemplate',
  'answerPattern',
  'choicesColumns',
  'typeColumn',
  'tagsColumns',
  'checker',
  'checkerColumn',
] as const satisfies readonly (keyof Mapping)[];

const isGiven = (member: unknown): boolean =>
  Array.isArray(member) ? member.length > 0 : member !== undefined && member !== null;

/** For each use of a column its index in a batch; -1 for a member that the mapping does not have. */
interface ColumnIndexes {
  readonly answer: number;
  readonly id: number;
  readonly choices: number;
  readonly prompt: number;
  readonly systemPrompt: number;
  /** The members of `meta` in canonical order, each key with its colon. */
  readonly meta: readonly { readonly key: Uint8Array; readonly column: number }[];
  readonly typed: readonly { readonly column: number; readonly type: ColumnType }[];
}

/**
 * Joins the cells of a row, whose texts are canonical already, into the line of its item, for `FastItemEncoder`. The
 * reference path is `compileMapping`.
 *
 * A row has no line if the mapping has assets, criteria, templates, a rule for answers or the like, if a column is missing,
 * or if a cell would have to be converted: a cell of another type than its column's, a prompt that is neither a string nor a
 * list, choices that are objects or may be a list in a string. The encoder of the line refuses what no item may have.
 */
export class RowLines {
  readonly #mapping: Mapping;
  readonly #maxRowBytes: number;
  readonly #line: Utf8Buffer = new Utf8Buffer();
  /** `,"tags":[…],"type":"…"}` */
  readonly #lineEnd: Uint8Array;
  #batch: CellBatch | null = null;
  /** Null if the rows of the batch have no lines. */
  #indexes: ColumnIndexes | null = null;
  /** The beginning of the ids of rows without an id column. */
  #idStart: Uint8Array = new Uint8Array();
  /** The current cell. */
  #bytes: Uint8Array = new Uint8Array();
  #start = 0;
  #end = 0;

  /** @param maxItemBytes a row whose item may be much longer has no line */
  constructor(mapping: Mapping, maxItemBytes: number) {
    this.#mapping = mapping;
    const useCounts = new Map<string, number>();
    for (const { column } of columnUses(mapping)) useCounts.set(column, (useCounts.get(column) ?? 0) + 1);
    this.#maxRowBytes = (maxItemBytes + MAX_SLACK_BYTES) / Math.max(1, ...useCounts.values());
    const tags = [...new Set(mapping.tags)];
    const type = canonicalJson(mapping.defaultType ?? DEFAULT_ITEM_TYPE);
    this.#lineEnd = utf8(`,${tags.length === 0 ? '' : `"tags":${canonicalJson(tags)},`}"type":${type}}`);
  }

  /** Loads the rows that `join` is to read. */
  load(batch: CellBatch): void {
    this.#batch = batch;
    this.#bytes = batch.bytes;
    this.#indexes = indexColumns(this.#mapping, batch.columns);
    this.#idStart = utf8(`"id":${canonicalJson(`${batch.split}-`).slice(0, -1)}`);
    this.#line.clear();
  }

  /** The line of a row, valid until the next call; null if the row has none. */
  join(row: number): Uint8Array | null {
    const { ends, columns } = this.#batch as CellBatch;
    const first = row * columns.length;
    const rowBytes = (ends[first + columns.length - 1] ?? 0) - (ends[first - 1] ?? 0);
    const indexes = this.#indexes;
    const isJoined = indexes !== null && rowBytes <= this.#maxRowBytes && this.#writeItem(indexes, row);
    return isJoined ? this.#line.bytes(0, this.#line.length) : null;
  }

  #writeItem(indexes: ColumnIndexes, row: number): boolean {
    for (const { column, type } of indexes.typed) {
      if (this.#find(column, row) && !this.#isOfType(type)) return false;
    }
    const line = this.#line;
    line.truncate(0);
    line.writeByte(OPEN_BRACE);
    if (this.#find(indexes.answer, row)) {
      this.#writeMember('"answer":');
      line.writeByte(COMMA);
    }
    if (indexes.id === -1) {
      line.writeSpan(this.#idStart, 0, this.#idStart.length);
      const { firstRow, idOffset = 0 } = this.#batch as CellBatch;
      line.writeAscii(`${firstRow + row + idOffset}",`);
    } else if (this.#find(indexes.id, row)) {
      this.#writeMember('"id":');
      line.writeByte(COMMA);
    }
    if (!this.#writeInputs(indexes, row)) return false;
    this.#writeMeta(indexes, row);
    line.writeSpan(this.#lineEnd, 0, this.#lineEnd.length);
    return true;
  }

  #writeInputs({ choices, prompt, systemPrompt }: ColumnIndexes, row: number): boolean {
    const line = this.#line;
    line.writeAscii('"inputs":{');
    if (this.#find(choices, row)) {
      const isList = this.#first === OPEN_BRACKET;
      const isNamed = isList && this.#bytes[this.#start + 1] === OPEN_BRACE;
      if (isNamed || this.#first === OPEN_BRACE || this.#mayBeJson()) return false;
      this.#writeMember(isList ? '"choices":' : '"choices":[');
      if (!isList) line.writeByte(CLOSE_BRACKET);
      line.writeByte(COMMA);
    }
    if (!this.#find(prompt, row)) return false;
    // The encoder of the line refuses a list that is not a conversation.
    const isConversation = this.#first === OPEN_BRACKET && this.#end - this.#start > '[]'.length;
    if (!isConversation && this.#first !== QUOTE) return false;
    this.#writeMember(isConversation ? '"messages":' : '"prompt":');
    if (this.#find(systemPrompt, row)) this.#writeMember(',"system_prompt":');
    line.writeByte(CLOSE_BRACE);
    return true;
  }

  #writeMeta({ meta }: ColumnIndexes, row: number): void {
    const line = this.#line;
    let isEmpty = true;
    for (const { key, column } of meta) {
      if (!this.#find(column, row)) continue;
      line.writeAscii(isEmpty ? ',"meta":{' : ',');
      line.writeSpan(key, 0, key.length);
      line.writeSpan(this.#bytes, this.#start, this.#end);
      isEmpty = false;
    }
    if (!isEmpty) line.writeByte(CLOSE_BRACE);
  }

  /** Writes the current cell after its key. */
  #writeMember(key: string): void {
    this.#line.writeAscii(key);
    this.#line.writeSpan(this.#bytes, this.#start, this.#end);
  }

  /** Goes to a cell. Returns false if the column is -1 or the cell is null. */
  #find(column: number, row: number): boolean {
    if (column === -1) return false;
    const { ends, columns } = this.#batch as CellBatch;
    const cell = row * columns.length + column;
    this.#start = cell === 0 ? 0 : (ends[cell - 1] as number);
    this.#end = ends[cell] as number;
    return this.#first !== LOWER_N;
  }

  /** The first byte of the current cell. */
  get #first(): number {
    return this.#bytes[this.#start] as number;
  }

  /** Whether casting the current cell to the type leaves it as it is. */
  #isOfType(type: ColumnType): boolean {
    const first = this.#first;
    switch (type) {
      case 'string':
        return first === QUOTE;
      case 'int64':
        return this.#end - this.#start <= MAX_INT64_BYTES && this.#isInteger();
      case 'float64':
        return first === MINUS || isDigit(first);
      case 'bool':
        return first === LOWER_T || first === LOWER_F;
      case 'json':
        return first !== QUOTE;
    }
  }

  #isInteger(): boolean {
    const digits = this.#first === MINUS ? this.#start + 1 : this.#start;
    return this.#bytes.subarray(digits, this.#end).every(isDigit);
  }

  /** Whether the cell is a string that may contain an array or an object, by its first character. */
  #mayBeJson(): boolean {
    if (this.#first !== QUOTE) return false;
    const second = this.#bytes[this.#start + 1];
    return second === OPEN_BRACKET || second === OPEN_BRACE || second === SPACE || second === BACKSLASH;
  }
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/** The columns of a mapping in a batch; null if items need the values of cells, or a column is missing. */
function indexColumns(mapping: Mapping, columns: readonly string[]): ColumnIndexes | null {
  const indexes = new Map(columns.map((name, index) => [name, index]));
  const { answerIs = 'text' } = mapping;
  const needsValues = answerIs !== 'text' || NEEDS_VALUES.some((key) => isGiven(mapping[key]));
  if (needsValues || !mappedColumns(mapping).every((name) => indexes.has(name))) return null;
  const indexOf = (name: string | undefined): number => (name === undefined ? -1 : (indexes.get(name) ?? -1));
  return {
    answer: indexOf(mapping.answerColumn),
    id: indexOf(mapping.idColumn),
    choices: indexOf(mapping.choicesColumn),
    prompt: indexOf(mapping.promptColumn),
    systemPrompt: indexOf(mapping.systemPromptColumn),
    // Comparison of strings is by UTF-16 code units.
    meta: metaEntries(mapping)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, column]) => ({ key: utf8(`${canonicalJson(key)}:`), column: indexOf(column) })),
    typed: Object.entries(mapping.types ?? {}).map(([name, type]) => ({ column: indexOf(name), type })),
  };
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
