import type { Semaphore } from '../../concurrency/index.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { StoreError } from './errors.ts';
import { isUuid, shortened } from './values.ts';

export interface PageRequest {
  /** Maximum entries; a page may have fewer although more follow. */
  readonly limit: number;
  /** `nextCursor` of the page before; absent for the first one. */
  readonly cursor?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PlacedPageRequest extends PageRequest {
  /** Entries to leave out at the beginning, 0 by default; without a cursor. */
  readonly offset?: number | undefined;
}

export interface Page<T> {
  readonly data: readonly T[];
  /** Opaque; null at the end of the list. */
  readonly nextCursor: string | null;
  readonly totalItems: number;
}

/** A page ends before the entry that would exceed this size; one entry may have more. */
export const MAX_PAGE_BYTES: number = 16 * 1024 * 1024;
/** This part of a page is read together with the lengths of the rest. */
export const EAGER_BYTES: number = 2 * 1024 * 1024;

/** Part of a position: an order index, a count, the JSON text of a number or null, a time, a UUID, a text. */
type Kind = 'index' | 'count' | 'number' | 'time' | 'uuid' | 'text';
type Values<Kinds extends readonly Kind[]> = {
  -readonly [Index in keyof Kinds]: Kinds[Index] extends 'index' | 'count' ? number : string;
};

/** Microseconds since 1970, up to the year 2286, which PostgreSQL multiplies exactly. */
const TIME = /^(?:0|-?[1-9]\d{0,15})$/;

const NUMBER = /^(?:null|-?\d{1,400}(?:\.\d{1,400})?(?:e[+-]?\d{1,3})?)$/;

const IS: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  index: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0x7fff_ffff,
  count: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  text: (value) => typeof value === 'string' && !value.includes('\0'),
  number: (value) =>
    typeof value === 'string' && NUMBER.test(value) && Number.isFinite(Number(value === 'null' ? 0 : value)),
  time: (value) => typeof value === 'string' && TIME.test(value),
  uuid: (value) => typeof value === 'string' && isUuid(value),
};

/** Writes the position after the last entry; the name of the list with its ids makes it invalid for other lists. */
export function encodeCursor(list: string, position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

export function cursorAfter<T>(
  list: string,
  shown: readonly T[],
  hasMore: boolean,
  positionOf: (last: T) => readonly (string | number)[],
): string | null {
  const last = shown.at(-1);
  return hasMore && last !== undefined ? encodeCursor(list, positionOf(last)) : null;
}

/** Reads a position. @throws StoreError `invalid_cursor` for what {@link encodeCursor} did not write for this list */
export function decodeCursor<const Kinds extends readonly Kind[]>(
  list: string,
  kinds: Kinds,
  cursor: string,
): Values<Kinds> {
  let values: unknown;
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw invalidCursor(cursor);
  }
  if (!Array.isArray(values) || values.length !== kinds.length + 1 || values[0] !== list) {
    throw invalidCursor(cursor);
  }
  const position: unknown[] = values.slice(1);
  if (!kinds.every((kind, index) => IS[kind](position[index]))) throw invalidCursor(cursor);
  return position as Values<Kinds>;
}

export class Parameters {
  readonly values: unknown[];

  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  readonly add = (value: unknown): string => `$${this.values.push(value)}`;
}

/** The version of a list's page: that of the cursor, which continues no other. @throws StoreError `invalid_cursor` */
export function versionOfCursor(
  cursor: string | undefined,
  ofCursor: number | null,
  wanted: number | null | undefined,
): number | null {
  if (cursor === undefined) return wanted ?? null;
  if (wanted != null && wanted !== ofCursor) throw invalidCursor(cursor);
  return ofCursor;
}

function invalidCursor(cursor: string): StoreError {
  return new StoreError('invalid_cursor', `The cursor "${shortened(cursor)}" does not belong to this list.`);
}

export interface HeldPage {
  /** Whether the page is large, so that it should be sent in pieces. */
  readonly isLarge: boolean;
  release(): void;
}

/** Reads a page when there is memory for it. @param largeBytes that it takes; 0 if it is not large */
export async function holdPage<T extends object>(
  largePages: Semaphore,
  largeBytes: number,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T & HeldPage> {
  const isLarge = largeBytes > 0;
  const permits = isLarge ? await largePages.acquire(signal, { permits: largeBytes }) : undefined;
  const release = (): void => permits?.[Symbol.dispose]();
  try {
    return { ...(await read()), isLarge, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** An order of a list: by a value, then by time of creation in the same direction. Rows without a value come last. */
export interface ListOrder {
  /** SQL; null for the time of creation alone. */
  readonly value: string | null;
  readonly type: 'float8' | 'text';
  readonly isDescending: boolean;
}

/** A list with a size for each of its rows, which have `created_at` and `id`. */
interface OrderedList {
  readonly from: string;
  readonly name: string;
  /** SQL for what else a row needs so that its `bytes` can be added up, begins with a comma. */
  readonly sizes?: string;
  readonly bytes: string;
  readonly columns: string;
  readonly order?: ListOrder | undefined;
  readonly filters: readonly string[];
}

interface OrderedRow {
  readonly id: string;
  /** The time of creation: a `Date` would lose its microseconds. */
  readonly createdPosition: string;
  readonly sortValue: number | string | null;
  readonly found: string;
}

/**
 * Reads the next rows of a list, as many as fit into a page, and one at least. By time it reads an index; other orders read
 * every row that passes the filters.
 *
 * @throws StoreError `invalid_cursor`, also for a cursor of another order
 */
export async function readOrderedPage<Row extends object>(
  query: ReadQuery,
  list: OrderedList,
  parameters: Parameters,
  { limit, cursor }: PageRequest,
): Promise<Page<Row>> {
  const { from, name, sizes = '', bytes, columns, filters, order = NEWEST_FIRST } = list;
  const conditions = ['true', ...filters];
  const [total] = await query<{ readonly count: number }>(
    `SELECT count(*)::float8 AS count FROM ${from} WHERE ${conditions.join(' AND ')}`,
    parameters.values,
  );
  const { value, isDescending } = order;
  const direction = isDescending ? 'DESC' : 'ASC';
  const byTime = `created_at ${direction}, id ${direction}`;
  const orderBy = value === null ? byTime : `${value} ${direction} NULLS LAST, ${byTime}`;
  const cursors = value === null ? (isDescending ? name : `${name} oldest`) : `${name} ${direction} ${value}`;
  if (cursor !== undefined) conditions.push(isAfter(cursors, order, cursor, parameters));
  const rows = await query<Row & OrderedRow>(
    `SELECT ${columns}, (extract(epoch FROM created_at) * 1000000)::bigint AS "createdPosition", ${value ?? 'NULL'} AS "sortValue", found
     FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER listed AS position, sum(${bytes}) OVER listed AS bytes
       FROM (
         SELECT ${name}.*${sizes} FROM ${from} WHERE ${conditions.join(' AND ')}
         ORDER BY ${orderBy} LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW listed AS (ORDER BY ${orderBy})
     ) ${name} WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY ${orderBy}`,
    parameters.values,
  );
  const shown = rows.slice(0, limit);
  return {
    data: shown.map(({ createdPosition: _, sortValue: __, found: ___, ...row }) => row as unknown as Row),
    nextCursor: cursorAfter(cursors, shown, Number(rows[0]?.found ?? 0) > shown.length, (last) =>
      positionOf(order, last),
    ),
    totalItems: total?.count ?? 0,
  };
}

const NEWEST_FIRST: ListOrder = { value: null, type: 'text', isDescending: true };

function isAfter(
  list: string,
  { value, type, isDescending }: ListOrder,
  cursor: string,
  { add }: Parameters,
): string {
  const sign = isDescending ? '<' : '>';
  const placed = (created: string, id: string): string =>
    `('epoch'::timestamptz + ${add(created)}::bigint * interval '1 microsecond'), ${add(id)}::uuid`;
  if (value === null) {
    const [created, id] = decodeCursor(list, ['time', 'uuid'], cursor);
    return `(created_at, id) ${sign} (${placed(created, id)})`;
  }
  const kind = type === 'text' ? 'text' : 'number';
  const [hasValue, bound, created, id] = decodeCursor(list, ['index', kind, 'time', 'uuid'], cursor);
  if (hasValue === 0 || (kind === 'number' && bound === 'null')) {
    return `${value} IS NULL AND (created_at, id) ${sign} (${placed(created, id)})`;
  }
  return `(${value} IS NULL OR (${value}, created_at, id) ${sign} (${add(kind === 'number' ? Number(bound) : bound)}::${type}, ${placed(created, id)}))`;
}

function positionOf({ value, type }: ListOrder, row: OrderedRow): readonly (string | number)[] {
  const { sortValue, createdPosition, id } = row;
  if (value === null) return [createdPosition, id];
  const none = type === 'text' ? '' : 'null';
  return [...(sortValue === null ? [0, none] : [1, String(sortValue)]), createdPosition, id];
}
