import { canonicalByteLength, DEFAULT_ITEM_TYPE } from '../item/encode-item.ts';
import { ASCII } from '../json/ascii.ts';
import type { CellBatch, UnreadRow } from './cell-batch.ts';
import { columnUses, type Mapping, metaEntries } from './mapping.ts';
import { templateBytes } from './mapping-bounds.ts';

const { OPEN_BRACE, COMMA } = ASCII;

/** A batch, and how many bytes its items take at most, or somewhat more. */
export interface SizedBatch extends CellBatch {
  readonly itemBytes: number;
}

/** Cuts batches of rows by the size of the items that they become. */
export interface BatchCutter {
  /**
   * The batch in parts whose items take at most `maxBytes` each, or one item more; each part has its own buffers. A batch
   * that is small enough is returned as it is.
   */
  cut(batch: CellBatch, maxBytes: number): Generator<SizedBatch, void, undefined>;
}

/** At least the keys of an item, an id that is the row's index, and the characters between members. */
const FIXED_BYTES = 128;

/**
 * Makes a cutter for the rows of a mapping. The size of an item is its constants, and each cell as often as the mapping uses
 * its column.
 *
 * @throws JsonlError as `compileMapping` does for templates
 *
 * @example
 * for (const part of createBatchCutter(mapping).cut(batch, 4 * 1024 * 1024)) encode(part);
 */
export function createBatchCutter(mapping: Mapping): BatchCutter {
  const constantBytes = constantsOf(mapping);
  const uses = new Map<string, number>();
  for (const { column } of columnUses(mapping)) uses.set(column, (uses.get(column) ?? 0) + 1);
  const mostUses = Math.max(1, ...uses.values());

  return {
    *cut(batch, maxBytes) {
      const { rowCount, columns, bytes, ends, split } = batch;
      const rowBytes = constantBytes + split.length;
      const choices = mapping.choicesColumn === undefined ? -1 : columns.indexOf(mapping.choicesColumn);
      const most = rowCount * rowBytes + bytes.length * mostUses;
      if (choices === -1 && most <= maxBytes) {
        yield { ...batch, itemBytes: most };
        return;
      }
      const usesOf = columns.map((name) => uses.get(name) ?? 1);
      let first = 0;
      let itemBytes = 0;
      for (let row = 0; row < rowCount; row += 1) {
        itemBytes += rowBytes;
        for (let column = 0; column < usesOf.length; column += 1) {
          const cell = row * usesOf.length + column;
          const start = cell === 0 ? 0 : (ends[cell - 1] as number);
          const end = ends[cell] as number;
          itemBytes += (end - start) * (usesOf[column] as number);
          if (column === choices && bytes[start] === OPEN_BRACE) itemBytes += zippedBytes(bytes, start, end);
        }
        if (itemBytes < maxBytes && row + 1 < rowCount) continue;
        if (first === 0 && row + 1 === rowCount) yield { ...batch, itemBytes };
        else yield { ...part(batch, first, row + 1), itemBytes };
        first = row + 1;
        itemBytes = 0;
      }
    },
  };
}

function constantsOf(mapping: Mapping): number {
  const { checker = null, tags = [], defaultType = DEFAULT_ITEM_TYPE } = mapping;
  let bytes =
    FIXED_BYTES + canonicalByteLength(checker) + canonicalByteLength(tags) + canonicalByteLength(defaultType);
  for (const [key] of metaEntries(mapping)) bytes += canonicalByteLength(key) + 2;
  bytes += templateBytes(mapping.promptTemplate, 'prompt_template');
  return bytes + templateBytes(mapping.systemPromptTemplate, 'system_prompt_template');
}

/** Choices of an object of arrays: its keys are written once for each element, and a key has at least two elements. */
function zippedBytes(bytes: Uint8Array, start: number, end: number): number {
  let commas = 0;
  for (let at = start; at < end; at += 1) if (bytes[at] === COMMA) commas += 1;
  return (end - start) * (Math.floor(commas / 2) + 1);
}

/** Rows of a batch, in their own buffers. */
function part(batch: CellBatch, from: number, to: number): CellBatch {
  const { bytes, ends, columns, firstRow, invalid } = batch;
  const [firstCell, endCell] = [from * columns.length, to * columns.length];
  const start = firstCell === 0 ? 0 : (ends[firstCell - 1] as number);
  const end = endCell === 0 ? 0 : (ends[endCell - 1] as number);
  let unread: Map<number, UnreadRow | null> | undefined;
  for (let row = from; invalid !== undefined && row < to; row += 1) {
    const why = invalid.get(row);
    if (why === undefined) continue;
    unread ??= new Map();
    unread.set(row - from, why);
  }
  return {
    ...batch,
    bytes: new Uint8Array(bytes.subarray(start, end)),
    ends: ends.slice(firstCell, endCell).map((position) => position - start),
    firstRow: firstRow + from,
    rowCount: to - from,
    invalid: unread,
  };
}
