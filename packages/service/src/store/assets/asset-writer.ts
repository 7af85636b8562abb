import type pg from 'pg';
import { mapOrdered } from '../../concurrency/index.ts';
import { rowParts } from '../database/copy-format.ts';
import { CopyIn } from '../database/copy-in.ts';
import { transactionIdOf } from '../postgres/pool.ts';
import type { AssetLocation, AssetStore } from './asset-store.ts';
import type { EmbeddedContent } from './link/link-item.ts';

/** Contents are staged when either limit is reached: bytes in memory, or waiting contents. */
const FULL_BYTES = 4 * 1024 * 1024;
const FULL_COUNT = 2_000;
/** Recent contents that are recognised when they recur; one that recurs later is staged twice. */
const MAX_SEEN = 50_000;
const CONCURRENT_PUTS = 8;

/**
 * Stores the files that the items of one import embed, each of them once per database, in the import's transaction.
 *
 * Rows of `assets` are inserted last, in the order of their hashes: of two imports with common files, one waits for the
 * other's commit, and never both for each other. Until then, contents are kept in memory, and in a temporary table. A file
 * that the database has already is locked when it is found, so that it cannot be collected.
 */
export class AssetWriter {
  readonly #store: AssetStore;
  readonly #signal: AbortSignal | undefined;
  #pending: EmbeddedContent[] = [];
  /** Those of the contents: one may hold many, and is kept for the last of them. */
  readonly #buffers = new Set<ArrayBufferLike>();
  #pendingBytes = 0;
  #position = 0;
  #isStaged = false;
  readonly #seen = new Map<string, boolean>();

  constructor(store: AssetStore, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#signal = signal;
  }

  get isFull(): boolean {
    return this.#pendingBytes >= FULL_BYTES || this.#pending.length >= FULL_COUNT;
  }

  add(contents: readonly EmbeddedContent[]): void {
    for (const content of contents) {
      const hasType = content.mimeType !== null;
      const seenWithType = this.#seen.get(content.sha256);
      if (seenWithType === true || (seenWithType === false && !hasType)) continue;
      this.#seen.delete(content.sha256);
      this.#seen.set(content.sha256, hasType);
      const [oldest] = this.#seen.keys();
      if (this.#seen.size > MAX_SEEN && oldest !== undefined) this.#seen.delete(oldest);
      this.#pending.push(content);
      const { buffer } = content.bytes;
      if (!this.#buffers.has(buffer)) this.#pendingBytes += buffer.byteLength;
      this.#buffers.add(buffer);
    }
  }

  /**
   * Moves what waits in memory to a temporary table of the transaction: locks what the database has already, and puts the rest.
   * All is put before the COPY begins, so that nothing is still on its way when this fails.
   */
  async stage(client: pg.ClientBase): Promise<void> {
    const contents = this.#pending;
    [this.#pending, this.#pendingBytes] = [[], 0];
    this.#buffers.clear();
    const found = await client.query<{ sha256: string }>(LOCK_KNOWN, [contents.map(hashOf)]);
    const known = new Set(found.rows.map(({ sha256 }) => sha256));
    const transactionId = await transactionIdOf(client);
    const located = mapOrdered(contents, CONCURRENT_PUTS, async (content) =>
      known.has(content.sha256) ? null : await this.#store.put(content, transactionId, this.#signal),
    );
    const locations = await Array.fromAsync(located);
    if (!this.#isStaged) await client.query(CREATE_STAGED);
    this.#isStaged = true;
    const copy = new CopyIn(client, COPY_STAGED, this.#signal);
    await copy.writeAll(this.#rows(contents, locations));
    await copy.end();
  }

  async *#rows(contents: readonly EmbeddedContent[], locations: readonly (AssetLocation | null)[]) {
    for (const [index, content] of contents.entries()) {
      const { bytes = null, objectKey = null } = locations[index] ?? {};
      const byteLength = BigInt(content.bytes.byteLength);
      const { mimeType } = content;
      yield* rowParts([BigInt(this.#position), hashOf(content), bytes, byteLength, objectKey, mimeType]);
      this.#position += 1;
    }
  }

  /** Inserts the assets, and the references of the dataset to them. @throws as {@link storeContents} */
  async store(client: pg.ClientBase, datasetId: string, version = 1): Promise<void> {
    await this.storeContents(client);
    await client.query(INSERT_REFERENCES, [datasetId, version]);
  }

  /** Inserts the assets, without references. @throws StoreError; what the store of assets throws */
  async storeContents(client: pg.ClientBase): Promise<void> {
    await this.stage(client);
    await client.query(INSERT_ASSETS);
  }
}

const hashOf = ({ sha256 }: { readonly sha256: string }): Buffer => Buffer.from(sha256, 'hex');

const COPY_STAGED =
  'COPY pg_temp.staged_assets (position, sha256, bytes, byte_length, object_key, mime_type) FROM STDIN (FORMAT binary)';

/** A collector locks rows FOR UPDATE before it removes them, and skips locked rows. */
const LOCK_KNOWN = `SELECT encode(sha256, 'hex') AS sha256 FROM assets WHERE sha256 = ANY ($1::bytea[])
  ORDER BY assets.sha256 FOR KEY SHARE`;

const CREATE_STAGED = `CREATE TEMPORARY TABLE staged_assets (
    position bigint, sha256 bytea, bytes bytea, byte_length bigint, object_key text, mime_type text
  ) ON COMMIT DROP;
  ALTER TABLE pg_temp.staged_assets ALTER COLUMN bytes SET STORAGE EXTERNAL`;

// Another import may have stored the same file by now: its row is locked by the update, which changes nothing.
const ON_CONFLICT = 'ON CONFLICT (sha256) DO UPDATE SET byte_length = EXCLUDED.byte_length';

// The items of a dataset may be moved in several transactions, in their order.
const ON_REFERENCE = `ON CONFLICT (dataset_id, sha256, since)
  DO UPDATE SET mime_type = coalesce(dataset_assets.mime_type, EXCLUDED.mime_type)`;

const IS_NEW = `NOT EXISTS (SELECT FROM dataset_assets old
    WHERE old.dataset_id = $1 AND old.sha256 = asset.sha256 AND old.since < $2 AND old.until IS NULL)`;

const INSERT_ASSETS = `INSERT INTO assets (sha256, bytes, byte_length, object_key)
  SELECT DISTINCT ON (sha256) sha256, bytes, byte_length, object_key FROM pg_temp.staged_assets
  WHERE bytes IS NOT NULL OR object_key IS NOT NULL ORDER BY sha256 ${ON_CONFLICT}`;

const INSERT_REFERENCES = `INSERT INTO dataset_assets (dataset_id, sha256, mime_type, since)
  SELECT DISTINCT ON (sha256) $1::uuid, sha256, mime_type, $2::int FROM pg_temp.staged_assets asset WHERE ${IS_NEW}
  ORDER BY sha256, mime_type IS NULL, position ${ON_REFERENCE}`;
