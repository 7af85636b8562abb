import type { Semaphore } from '@svc/concurrency';
import type { ReadQuery } from '../postgres/read-query.ts';
import { StoreError } from './errors.ts';
import { isUuid, shortened } from './values.ts';

/** Which part of a list to read. */
export interface PageRequest {
  /** Maximum entries; a page may have fewer although more follow. */
  readonly limit: number;
  /** `nextCursor` of the page before; absent for the first one. */
  readonly cursor?: string | undefined;
  /** Cancels the read, in the server too. */
  readonly signal?: AbortSignal | undefined;
}

/** Which part of a list to read that can be read from any place. */
export interface PlacedPageRequest extends PageRequest {
  /** Entries to leave out at the beginning, 0 by default; without a cursor. */
  readonly offset?: number | undefined;
}

/** A part of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  /** Opaque; null at the end of the list. */
  readonly nextCursor: string | null;
  /** Entries of the whole list that pass its filters. */
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

/**
 * Writes the position after the last entry of a page. The list's name is part of it, with the ids of what it lists, so
 * that a cursor of one list is invalid for another.
 */
export function encodeCursor(list: string, position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

/**
 * The cursor of the page after one; null at the end of the list.
 *
 * @param hasMore whether entries follow
 * @param positionOf gives the position after the last entry, see {@link encodeCursor}
 */
export function cursorAfter<T>(
  list: string,
  shown: readonly T[],
  hasMore: boolean,
  positionOf: (last: T) => readonly (string | number)[],
): string | null {
  const last = shown.at(-1);
  return hasMore && last !== undefined ? encodeCursor(list, positionOf(last)) : null;
}

/**
 * Reads a position.
 *
 * @param kinds of the values that the list wrote
 * @throws StoreError `invalid_cursor` for anything that {@link encodeCursor} did not write for this list
 */
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

/** The values of a query's parameters, collected while its text is written. */
export class Parameters {
  readonly values: unknown[];

  /** @param values the values that the text has already */
  constructor(values: readonly unknown[] = []) {
    this.values = [...values];
  }

  /** Adds a value. @returns its placeholder, such as `$1` */
  readonly add = (value: unknown): string => `$${this.values.push(value)}`;
}

/** The time of a row's creation as a position holds it: a `Date` would lose its microseconds. */
const CREATED_POSITION = `(extract(epoch FROM created_at) * 1000000)::bigint AS "createdPosition"`;

/** The time at such a position. @param placeholder of its parameter */
export const timeAtPosition = (placeholder: string): string =>
  `('epoch'::timestamptz + ${placeholder}::bigint * interval '1 microsecond')`;

/** A row of a list by `created_at` and `id`. */
export interface CreatedRow {
  readonly id: string;
  /** See {@link CREATED_POSITION}. */
  readonly createdPosition: string;
}

/**
 * The version of a list's page: that of the cursor, which continues no other.
 *
 * @returns null for the newest
 * @throws StoreError `invalid_cursor`
 */
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

/** A page whose memory is accounted for until it is released. */
export interface HeldPage {
  /** Whether the page is large, so that it should be sent in pieces. */
  readonly isLarge: boolean;
  /** Call it when the page was sent, or is not needed. */
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

/** A list with a size for each of its rows, which have `created_at` and `id`. */
interface OrderedList {
  /** SQL after FROM, whose rows are named `name`. */
  readonly from: string;
  readonly name: string;
  /** SQL for what else a row needs so that its `bytes` can be added up, begins with a comma. */
  readonly sizes?: string;
  /** SQL for the size of a row. */
  readonly bytes: string;
  /** SQL for what is read of the rows of a page. */
  readonly columns: string;
  /** After ORDER BY. */
  readonly orderBy: string;
  /** Conditions that rows must meet. */
  readonly filters: readonly string[];
}

/** Reads the next rows of a list, as many as fit into a page, and one at least. @param after adds the condition for them */
export async function readOrderedPage<Row extends object>(
  query: ReadQuery,
  { from, name, sizes = '', bytes, columns, orderBy, filters }: OrderedList,
  parameters: Parameters,
  limit: number,
  after: (() => string) | undefined,
): Promise<{
  readonly shown: readonly (Row & CreatedRow)[];
  readonly hasMore: boolean;
  readonly totalItems: number;
}> {
  const conditions = ['true', ...filters];
  const [total] = await query<{ readonly count: number }>(
    `SELECT count(*)::float8 AS count FROM ${from} WHERE ${conditions.join(' AND ')}`,
    parameters.values,
  );
  if (after !== undefined) conditions.push(after());
  const rows = await query<Row & CreatedRow & { readonly found: string }>(
    `SELECT ${columns}, ${CREATED_POSITION}, found FROM (
       SELECT *, count(*) OVER () AS found, row_number() OVER listed AS position, sum(${bytes}) OVER listed AS bytes
       FROM (
         SELECT ${name}.*${sizes} FROM ${from} WHERE ${conditions.join(' AND ')}
         ORDER BY ${orderBy} LIMIT ${parameters.add(limit + 1)}
       ) candidate WINDOW listed AS (ORDER BY ${orderBy})
     ) ${name} WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
     ORDER BY ${orderBy}`,
    parameters.values,
  );
  const shown = rows.slice(0, limit).map(({ found: _, ...row }) => row as unknown as Row & CreatedRow);
  return {
    shown,
    hasMore: Number(rows[0]?.found ?? 0) > shown.length,
    totalItems: total?.count ?? 0,
  };
}
