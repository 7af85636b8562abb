import { type CutRows, type LongRow, RowFields } from '../database/copy-format.ts';
import { joinStoredItem } from '../database/read-stored-json.ts';
import { decodeLargeRow, decodeRow, type ItemOrder, LARGE_ROW_BYTES, ROW_FIELD } from './decode-rows.ts';
import type { StoredItem } from './list-items.ts';

/**
 * Lines of items: bytes are whole canonical lines with their line feeds; a text, and bytes in pieces, which must be read before
 * the next line, are one line without. An item that links files comes as it is stored.
 */
export type ItemLine = Uint8Array | string | AsyncIterable<Uint8Array> | StoredItem;

const LINE_FEED = 0x0a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const QUOTE = 0x22;
const COMMA = 0x2c;

const MEMBERS = [
  { field: ROW_FIELD.answer, name: Buffer.from('"answer":'), initial: 0x61 },
  { field: ROW_FIELD.assets, name: Buffer.from('"assets":'), initial: 0x61 },
  { field: ROW_FIELD.checker, name: Buffer.from('"checker":'), initial: 0x63 },
] as const;

/**
 * Joins the stored parts of items to lines, as `joinItem` does, but without texts: a long item is never in memory as a whole.
 */
export async function* toLines(rows: AsyncIterable<CutRows | LongRow>, order: ItemOrder) {
  const fields = new RowFields();
  for await (const batch of rows) {
    if ('starts' in batch) yield await linesOf(batch, fields, order);
    else yield [await longLine(batch, fields, order)];
  }
}

async function linesOf({ bytes, starts, end }: CutRows, fields: RowFields, order: ItemOrder) {
  const lines: ItemLine[] = [];
  // A line is shorter than its row, which has its hash and the lengths of its fields.
  const joined = Buffer.allocUnsafeSlow(end - (starts[0] ?? end));
  let lineStart = 0;
  let at = 0;
  for (const [index, start] of starts.entries()) {
    fields.read(bytes, start);
    const section = take(fields, order);
    const isJoined = fields.isNull(ROW_FIELD.linkedFiles) && startsAfterMembers(bytes, fields);
    if (isJoined) {
      at = putLine(joined, at, bytes, fields);
      continue;
    }
    if (at > lineStart) lines.push(joined.subarray(lineStart, at));
    lineStart = at;
    lines.push(await decodedLine(fields, section, (starts[index + 1] ?? end) - start));
  }
  if (at > lineStart) lines.push(joined.subarray(lineStart, at));
  return lines;
}

function take(fields: RowFields, order: ItemOrder): string {
  const hasParts = !fields.isNull(ROW_FIELD.payload);
  return order.take(fields.int32(ROW_FIELD.sectionOrderIndex), fields.int32(ROW_FIELD.orderIndex), hasParts);
}

/** Whether the payload is the text of an object whose first name follows those of the other members: most are. */
function startsAfterMembers(bytes: Buffer, fields: RowFields): boolean {
  const [start, end] = fields.range(ROW_FIELD.payload);
  let last = 0;
  for (const { field, initial } of MEMBERS) if (!fields.isNull(field)) last = initial;
  if (last === 0) return true;
  return (
    end - start > 2 &&
    bytes[start] === OPEN_BRACE &&
    bytes[start + 1] === QUOTE &&
    (bytes[start + 2] as number) > last &&
    (end > bytes.length || bytes[end - 1] === CLOSE_BRACE)
  );
}

function putLine(to: Buffer, position: number, bytes: Buffer, fields: RowFields): number {
  let at = putMembers(to, position, bytes, fields);
  const [start, end] = fields.range(ROW_FIELD.payload);
  at += bytes.copy(to, at, at === position ? start : start + 1, end);
  to[at] = LINE_FEED;
  return at + 1;
}

/** Writes the brace and the members before the rest of a payload; nothing where there are none. @returns the position after it */
function putMembers(to: Buffer, position: number, bytes: Buffer, fields: RowFields): number {
  let at = position;
  for (const { field, name } of MEMBERS) {
    if (fields.isNull(field)) continue;
    to[at] = at === position ? OPEN_BRACE : COMMA;
    at += 1;
    at += name.copy(to, at);
    at += bytes.copy(to, at, ...fields.range(field));
  }
  if (at === position) return at;
  to[at] = COMMA;
  return at + 1;
}

async function decodedLine(
  fields: RowFields,
  section: string,
  rowBytes: number,
): Promise<StoredItem | string> {
  const row = rowBytes > LARGE_ROW_BYTES ? await decodeLargeRow(fields) : decodeRow(fields);
  const item = { ...row, section, payload: row.payload ?? '' };
  return item.linkedFiles.length > 0 ? item : joinStoredItem(item);
}

async function longLine({ start, rest }: LongRow, fields: RowFields, order: ItemOrder): Promise<ItemLine> {
  fields.read(start, 0);
  const section = take(fields, order);
  const isJoined = fields.isNull(ROW_FIELD.linkedFiles) && startsAfterMembers(start, fields);
  if (!isJoined) {
    const bytes = Buffer.concat([start, ...(await Array.fromAsync(rest))]);
    fields.read(bytes, 0);
    return await decodedLine(fields, section, bytes.byteLength);
  }
  const [payload] = fields.range(ROW_FIELD.payload);
  const joined = Buffer.allocUnsafeSlow(start.length);
  const at = putMembers(joined, 0, start, fields);
  const end = at + start.copy(joined, at, at === 0 ? payload : payload + 1);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    yield joined.subarray(0, end);
    yield* rest;
  }
  return pieces();
}
