import { type LinkedFile, type LinkedParts, layoutLinkedItem } from '@svc/jsonl-v23/assets';
import { unchecked } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { StoreError } from '../database/errors.ts';
import { toCorrupt } from '../database/read-stored-json.ts';
import { isUuid } from '../database/values.ts';
import { createReadQuery, createReads, type Reads } from '../postgres/read-query.ts';
import type { AssetStore, ByteRange } from './asset-store.ts';
import { collectAssets, collectObjects } from './collect-assets.ts';

export interface DatasetAsset {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly byteLength: number;
  /** Path of the dataset's first reference; null if it has none. */
  readonly mimeType: string | null;
}

/** The files that items embed, each once. Every method throws StoreError `unavailable`. */
export type Assets = ReturnType<typeof createAssets>;

export const createAssets = (context: StoreContext) =>
  unchecked(context, {
    ...{ find, read, findMissing, collect },
    itemText: ({ pool, assets }, parts: LinkedParts, signal?: AbortSignal) =>
      itemText({ assets, reads: createReads(pool, signal) }, parts, signal),
  });

const SHA256 = /^[0-9a-f]{64}$/;

/** The asset of a dataset, or only of the items of a `version`; null when none of them embeds such a file. */
async function find(
  { pool }: StoreContext,
  datasetId: string,
  sha256: string,
  {
    version,
    signal,
  }: { readonly version?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<DatasetAsset | null> {
  if (!isUuid(datasetId) || !SHA256.test(sha256)) return null;
  const query = createReadQuery(pool, signal);
  const [asset] = await query<DatasetAsset>(FIND_ASSET, [datasetId, sha256, version ?? null]);
  return asset ?? null;
}

/** Reads an asset, or a range of it, in small pieces. @throws StoreError `asset_missing` if its content is gone */
const read = (
  { pool, assets }: StoreContext,
  sha256: string,
  { range, signal }: { readonly range?: ByteRange; readonly signal?: AbortSignal } = {},
): AsyncGenerator<Uint8Array, void, undefined> =>
  assets.read(createReads(pool, signal), sha256, range, signal);

/** Those of these assets whose content is gone. @param sha256s each 64 lower-case hex digits */
async function findMissing({ pool, assets }: StoreContext, sha256s: readonly string[], signal?: AbortSignal) {
  if (sha256s.length === 0) return new Set();
  return new Set(await assets.findMissing(createReadQuery(pool, signal), sha256s, signal));
}

/** Removes assets without references, and objects that no asset needs. Any number of processes may do so at a time. */
async function collect({ pool, assets }: StoreContext, signal?: AbortSignal): Promise<number> {
  const removed = await collectAssets(pool, signal);
  await collectObjects(pool, assets, signal);
  return removed;
}

const FIND_ASSET = `SELECT $2::text AS sha256, a.byte_length::float8 AS "byteLength", d.mime_type AS "mimeType"
  FROM dataset_assets d JOIN assets a ON a.sha256 = d.sha256
  WHERE d.dataset_id = $1 AND d.sha256 = decode($2, 'hex')
    AND ($3::int IS NULL OR d.since <= $3 AND (d.until IS NULL OR d.until > $3))
  ORDER BY d.since DESC LIMIT 1`;

export function assetNotFound(): StoreError {
  return new StoreError('asset_not_found', 'The dataset has no asset of this hash.');
}

interface ContentReader {
  readonly assets: AssetStore;
  readonly reads: Reads;
}

/** A file up to this size is not read again for the next entry that embeds it. */
const MAX_KEPT_BYTES = 768 * 1024;

/** The canonical text of an item with its files embedded, in pieces: memory holds one piece of a file. */
export async function* itemText(reader: ContentReader, parts: LinkedParts, signal?: AbortSignal) {
  let kept: { readonly sha256: string; readonly texts: string[] } | undefined;
  for (const piece of layout(parts)) {
    if (typeof piece === 'string') yield piece;
    else if (kept?.sha256 === piece.sha256) yield* kept.texts;
    else {
      const texts: string[] = [];
      const keeps = piece.byteLength <= MAX_KEPT_BYTES;
      for await (const text of base64Text(reader, piece, signal)) {
        if (keeps) texts.push(text);
        yield text;
      }
      if (keeps) kept = { sha256: piece.sha256, texts };
    }
  }
}

async function* base64Text(
  { assets, reads }: ContentReader,
  { sha256, byteLength }: Pick<LinkedFile, 'sha256' | 'byteLength'>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let read = 0;
  for await (const bytes of assets.read(reads, sha256, { start: 0, end: byteLength }, signal)) {
    read += bytes.byteLength;
    const piece =
      rest.byteLength === 0
        ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : Buffer.concat([rest, bytes]);
    // Only the last text may be padded.
    const whole = read === byteLength ? piece.byteLength : piece.byteLength - (piece.byteLength % 3);
    if (whole > 0) yield piece.toString('base64', 0, whole);
    rest = piece.subarray(whole);
  }
}

function layout(parts: LinkedParts): (string | LinkedFile)[] {
  try {
    return layoutLinkedItem(parts);
  } catch (error) {
    throw toCorrupt(error);
  }
}
