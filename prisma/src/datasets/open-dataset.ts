import type { ItemParts } from '@svc/jsonl-v23/internal';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { StoreContext } from '../context.ts';
import { type DecodedRow, decodeRows } from '../copy/decode-rows.ts';
import { cancelQuery } from '../database/cancel-query.ts';
import { destroySocket } from '../database/client-socket.ts';
import { StoreError, toStoreError } from '../database/errors.ts';
import { boundedName, hasAtMost, itemTooLarge } from '../database/item-size.ts';
import type { ReadQuery } from '../database/read-query.ts';
import { readStoredJson } from '../database/read-stored-json.ts';
import { isUuid } from '../database/values.ts';
import { readResults, type StoredResult } from '../runs/run-results.ts';
import { RUN_COLUMNS, type Run, type RunRow, runNotFound, toRun } from '../runs/run-row.ts';
import { type DatasetSummary, SUMMARY_SECTIONS } from './dataset.ts';
import {
  DATASET_BYTES,
  type DatasetRow,
  datasetNotFound,
  type StoredSection,
  toStoredSection,
  toSummary,
  WHOLE_DATASET,
} from './dataset-row.ts';
import type { StoredItem } from './list-items.ts';

/** A dataset at one moment, for as long as it is open: it holds a connection and a snapshot. */
export interface OpenDataset extends AsyncDisposable {
  readonly dataset: DatasetSummary;
  /** All of them, in order. */
  readonly sections: readonly StoredSection[];
  /**
   * Items in section and item order, in batches of what the server sends at once. May be read again, but not while
   * it is being read; a reader that stops early ends it for good.
   *
   * @param sections which ones; all without it
   */
  items(sections?: readonly StoredSection[]): AsyncGenerator<StoredItem[], void, undefined>;
  /** One item again; not while items are being read. */
  itemAt(section: Pick<StoredSection, 'id'>, orderIndex: number): Promise<ItemParts>;
  /** @throws StoreError `run_not_found` when there is none, or it is of another dataset */
  run(runId: string): Promise<ExportedRun>;
  /** The results of a run in item order, in batches. */
  results(runId: string): AsyncGenerator<readonly ExportedResult[], void, undefined>;
}

/** A run with its configuration read. */
export type ExportedRun = Omit<Run, 'config'> & { readonly config: JsonValue };

type JsonMember = 'itemId' | 'output' | 'explanation' | 'error' | 'usage';
/** A result with its JSON members read. */
export type ExportedResult = Omit<StoredResult, JsonMember> & { readonly [Member in JsonMember]: JsonValue };

/** See `DatasetStore.open`. */
export async function openDataset(
  { pool, exports, maxItemBytes }: Pick<StoreContext, 'pool' | 'exports' | 'maxItemBytes'>,
  id: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<OpenDataset> {
  const { signal } = options;
  if (!isUuid(id)) throw datasetNotFound(id);
  const permit = await exports.acquire(signal);
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    permit[Symbol.dispose]();
    throw error;
  }
  const session = new ReadSession(client, permit, maxItemBytes, signal);
  const query: ReadQuery = async <Row extends pg.QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ) => (await client.query<Row>(sql, [...values])).rows;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    // Items are read in the order of their primary key, and have been written in it.
    await client.query(
      'SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off',
    );
    const dataset = await readWhole(query, id, maxItemBytes);
    const found = await client.query<SectionColumns>(
      `SELECT id, ${boundedName('name')} AS name, order_index AS "orderIndex", item_count AS "itemCount", section_hash AS "sectionHash",
         file_bytes AS "fileBytes", file_sha256 AS "fileSha256"
       FROM sections WHERE dataset_id = $1 ORDER BY order_index`,
      [id],
    );
    const sections = found.rows.map((row) =>
      toStoredSection({ ...row, fileBytes: row.fileBytes === null ? null : BigInt(row.fileBytes) }),
    );
    await refuseTooLarge(query, sections, maxItemBytes);
    // From here on it takes as long as its reader does.
    await query('SET LOCAL statement_timeout = 0');
    return {
      dataset: toSummary({ ...dataset, sections: sections.slice(0, SUMMARY_SECTIONS) }),
      sections,
      items: (wanted = sections) => session.items(wanted),
      async itemAt(section, orderIndex) {
        const [parts] = await query<ItemParts>(
          `SELECT payload::text AS payload, answer::text AS answer, checker::text AS checker, assets::text AS assets
           FROM items WHERE section_id = $1 AND order_index = $2 AND ${hasAtMost(maxItemBytes, 'items')}`,
          [section.id, orderIndex],
        );
        if (parts === undefined)
          throw new Error(`section ${section.id} has no item ${orderIndex} to be read`);
        return parts;
      },
      async run(runId) {
        const [run] = isUuid(runId)
          ? await query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 AND dataset_id = $2`, [
              runId,
              id,
            ])
          : [];
        if (run === undefined) throw runNotFound(runId);
        return { ...toRun(run), config: readStoredJson(run.config) };
      },
      async *results(runId) {
        for await (const batch of readResults(query, runId, maxItemBytes)) yield batch.map(toExportedResult);
      },
      [Symbol.asyncDispose]: () => session.close(),
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

function toExportedResult(result: StoredResult): ExportedResult {
  const { itemId, output, explanation, error, usage } = result;
  return {
    ...result,
    itemId: readNullable(itemId),
    output: readNullable(output),
    explanation: readNullable(explanation),
    error: readNullable(error),
    usage: readNullable(usage),
  };
}

const readNullable = (text: string | null): JsonValue => (text === null ? null : readStoredJson(text));

/** See `DatasetStore.streamItems`: the dataset is closed when its items end, in whatever way. */
export async function streamItems(
  context: Pick<StoreContext, 'pool' | 'exports' | 'maxItemBytes'>,
  id: string,
  options: { readonly section?: string; readonly signal?: AbortSignal } = {},
): Promise<AsyncIterable<StoredItem[]>> {
  const { section, signal } = options;
  const open = await openDataset(context, id, signal === undefined ? {} : { signal });
  const wanted = section === undefined ? open.sections : open.sections.filter(({ name }) => name === section);
  const items = open.items(wanted);
  const close = async (): Promise<IteratorResult<StoredItem[], void>> => {
    await items.return();
    await open[Symbol.asyncDispose]();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const result = await items.next();
          return result.done === true ? await close() : result;
        } catch (error) {
          await close();
          throw error;
        }
      },
      return: close,
    }),
  };
}

interface SectionColumns {
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
  readonly sectionHash: Uint8Array;
  readonly fileBytes: string | null;
  readonly fileSha256: Uint8Array | null;
}

/** Sections of one COPY: enough that small ones are not a statement each, few enough for the text of one. */
const SECTIONS_PER_COPY = 1_000;

/** One connection in one snapshot, given back when it is closed: clean, or not at all. */
class ReadSession {
  #client: pg.PoolClient | null;
  readonly #permit: Disposable;
  readonly #maxItemBytes: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => {
    // A statement that sends nothing yet would not notice that its connection is gone.
    if (this.#client !== null) void cancelQuery(this.#client);
    this.#discard();
  };
  readonly #ignore = (): void => undefined;
  #reading = false;

  constructor(
    client: pg.PoolClient,
    permit: Disposable,
    maxItemBytes: number,
    signal: AbortSignal | undefined,
  ) {
    this.#client = client;
    this.#permit = permit;
    this.#maxItemBytes = maxItemBytes;
    this.#signal = signal;
    client.on('error', this.#ignore);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  async *items(sections: readonly StoredSection[]): AsyncGenerator<StoredItem[], void, undefined> {
    for (let first = 0; first < sections.length; first += SECTIONS_PER_COPY) {
      const group = sections.slice(first, first + SECTIONS_PER_COPY);
      if (group.some(({ itemCount }) => itemCount > 0)) yield* this.#copy(group);
    }
  }

  async *#copy(sections: readonly StoredSection[]): AsyncGenerator<StoredItem[], void, undefined> {
    this.#signal?.throwIfAborted();
    const client = this.#client;
    if (client === null || this.#reading) throw new Error('the dataset is closed or is being read');
    this.#reading = true;
    const copy = client.query(copyTo(copyStatement(sections, this.#maxItemBytes)));
    try {
      yield* inOrder(sections, decodeRows(copy as AsyncIterable<Uint8Array>), this.#maxItemBytes);
      this.#reading = false;
    } catch (error) {
      this.#signal?.throwIfAborted();
      throw toStoreError(error);
    } finally {
      // The rest of the rows is on its way: the connection cannot be used again.
      if (this.#reading) this.#discard();
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    this.#client = null;
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    this.#giveBack(client, broken);
  }

  #discard(): void {
    const client = this.#client;
    if (client === null) return;
    this.#client = null;
    // The server sees the end of the connection and stops sending.
    destroySocket(client);
    this.#giveBack(client, true);
  }

  #giveBack(client: pg.PoolClient, broken: boolean): void {
    this.#signal?.removeEventListener('abort', this.#onAbort);
    if (!broken) client.off('error', this.#ignore);
    client.release(broken);
    this.#permit[Symbol.dispose]();
  }
}

/** `manifest.json` and `meta.json` of an archive are lines by their limit, and both stand in a dataset's texts. */
const MAX_DATASET_ITEMS = 4;

/** The dataset's row with all of its texts. */
async function readWhole(query: ReadQuery, id: string, maxItemBytes: number): Promise<DatasetRow> {
  const [size] = await query<{ bytes: string }>(
    `SELECT ${DATASET_BYTES} AS bytes FROM datasets WHERE id = $1`,
    [id],
  );
  if (size === undefined) throw datasetNotFound(id);
  if (Number(size.bytes) > MAX_DATASET_ITEMS * maxItemBytes) {
    throw new StoreError(
      'item_too_large',
      `Schema, description and notes of the dataset have ${size.bytes} bytes.`,
    );
  }
  const [dataset] = await query<DatasetRow>(`SELECT ${WHOLE_DATASET} FROM datasets WHERE id = $1`, [id]);
  if (dataset === undefined) throw datasetNotFound(id);
  return dataset;
}

/**
 * Says so before anything is read where a section has an item that is larger than one may be. Only those are looked
 * through that are likely to have one, as their items embed files; the others are read once, and fail on the way.
 */
async function refuseTooLarge(
  query: ReadQuery,
  sections: readonly StoredSection[],
  maxItemBytes: number,
): Promise<void> {
  const suspects = sections.filter(
    ({ exportFile }) => exportFile === null || exportFile.bytes > maxItemBytes,
  );
  if (suspects.length === 0) return;
  const [found] = await query<{ readonly section: string; readonly orderIndex: number }>(
    `SELECT section_id AS section, order_index AS "orderIndex" FROM items
     WHERE section_id = ANY ($1::uuid[]) AND NOT ${hasAtMost(maxItemBytes, 'items')} LIMIT 1`,
    [suspects.map(({ id }) => id)],
  );
  if (found === undefined) return;
  const section = sections.find(({ id }) => id === found.section)?.name ?? '';
  throw itemTooLarge('Item', { section, orderIndex: found.orderIndex }, maxItemBytes);
}

/** Names the sections, and makes sure that every item of theirs came, in order: an export must not be short. */
async function* inOrder(
  sections: readonly StoredSection[],
  batches: AsyncIterable<DecodedRow[]>,
  maxItemBytes: number,
): AsyncGenerator<StoredItem[], void, undefined> {
  const remaining = sections.values();
  let section: StoredSection | undefined;
  let next = 0;
  const advance = (): void => {
    while (section === undefined || next === section.itemCount) {
      const { done, value } = remaining.next();
      if (done === true) {
        section = undefined;
        return;
      }
      section = value;
      next = 0;
    }
  };
  advance();
  for await (const rows of batches) {
    const items: StoredItem[] = [];
    for (const row of rows) {
      if (section === undefined || row.sectionOrderIndex !== section.orderIndex || row.orderIndex !== next) {
        throw new Error(`item ${row.orderIndex} of section ${row.sectionOrderIndex} came out of turn`);
      }
      const { payload } = row;
      if (payload === null) {
        throw itemTooLarge('Item', { section: section.name, orderIndex: next }, maxItemBytes);
      }
      items.push({ section: section.name, ...row, payload });
      next += 1;
      advance();
    }
    yield items;
  }
  if (section !== undefined) throw new Error(`section ${section.orderIndex} ended after ${next} items`);
}

/**
 * A COPY takes no parameters: the ids stand in its text, which are uuids from the database. OFFSET 0 keeps the
 * planner from sorting all items: each section is read in the order of the primary key, one after the other. An item
 * that is larger than one may be comes without its parts.
 */
function copyStatement(sections: readonly StoredSection[], maxItemBytes: number): string {
  const values = sections.map(({ id, orderIndex }) => `('${id}'::uuid, ${orderIndex})`).join(',');
  return `COPY (
    SELECT s.order_index, i.* FROM (VALUES ${values}) AS s (id, order_index) CROSS JOIN LATERAL (
      SELECT order_index AS item, item_hash, CASE WHEN fits THEN payload END AS payload,
        CASE WHEN fits THEN answer END, CASE WHEN fits THEN checker END, CASE WHEN fits THEN assets END
      FROM (
        SELECT *, ${hasAtMost(maxItemBytes, 'items')} AS fits FROM items
        WHERE section_id = s.id ORDER BY order_index OFFSET 0
      ) sized
    ) i
  ) TO STDOUT (FORMAT binary)`;
}
