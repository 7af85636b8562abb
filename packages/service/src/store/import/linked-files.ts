import type { AssetLink } from '@svc/jsonl-v23/assets';
import { LRUCache } from 'lru-cache';
import type { AssetStore } from '../assets/asset-store.ts';
import { createAssetReader, wholeOf } from '../assets/read-ahead.ts';
import { seesHandle } from '../audit/actor.ts';
import { isUuid, shortened } from '../database/values.ts';
import type { Pool } from '../postgres/pool.ts';
import { createReads, type ReadQuery } from '../postgres/read-query.ts';
import { onlyInPackages } from './encode/encode-rows.ts';
import type { ItemFileSource } from './encode/encode-with-files.ts';

/** Contents that are kept for the next items that link them. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;

interface LinkedFile {
  readonly sha256: string;
  readonly byteLength: number;
}

export interface LinkedFilesDeps {
  readonly pool: Pool;
  readonly assets: AssetStore;
  readonly signal: AbortSignal | undefined;
}

/**
 * The stored files that items link, as `GET …/items?assets=link` writes them. Each batch of items takes two queries, and
 * one for each MiB of small files; of the contents, memory holds 33 MiB, or one.
 */
export function createLinkedFiles({ pool, assets, signal }: LinkedFilesDeps): ItemFileSource {
  const reads = createReads(pool, signal);
  const reader = createAssetReader({ assets, reads, signal });
  const cache = new LRUCache<string, Uint8Array>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  });
  /** The files of the batch in the order of its items, and which is next. */
  let files: readonly LinkedFile[] = [];
  let next = 0;

  function* following(): Generator<LinkedFile> {
    for (let at = next; at < files.length; at += 1) {
      const file = files[at] as LinkedFile;
      if (!cache.has(file.sha256)) yield file;
    }
  }

  return {
    async problems(references) {
      const links = references.flatMap(({ link }) => (link === undefined ? [] : [link]));
      const found = await findFiles(reads.query, links);
      files = links.flatMap(({ dataset, sha256 }) => found.get(dataset)?.get(sha256) ?? []);
      next = 0;
      return references.map(({ link, path, pointer }) => {
        if (link === undefined) return onlyInPackages(path, pointer);
        const ofDataset = found.get(link.dataset);
        if (ofDataset?.has(link.sha256) === true) return null;
        const name = JSON.stringify(shortened(link.dataset));
        const missing =
          ofDataset === undefined ? `there is no dataset ${name}` : `the dataset ${name} has no such file`;
        return `${pointer}/url must be a link to a file of a dataset, but ${missing}`;
      });
    },

    async read({ link }) {
      const { sha256 = '' } = link ?? {};
      const file = files[next] as LinkedFile;
      if (file.sha256 !== sha256)
        throw new Error('The files of a batch must be read in the order of its items.');
      next += 1;
      const known = cache.get(sha256);
      if (known !== undefined) return known;
      const bytes = await wholeOf(reader(file, following()), file.byteLength);
      cache.set(sha256, bytes);
      return bytes;
    },
  };
}

/** The files that links name: by the dataset as the link names it, and by hash. A dataset that does not exist is absent. */
async function findFiles(
  query: ReadQuery,
  links: readonly AssetLink[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, LinkedFile>>> {
  const found = new Map<string, Map<string, LinkedFile>>();
  if (links.length === 0) return found;
  const names = [...new Set(links.map(({ dataset }) => dataset))];
  const datasets = await query<{ name: string; id: string }>(
    `SELECT DISTINCT wanted.name, d.id FROM unnest($1::text[], $2::uuid[]) AS wanted (name, id)
       JOIN datasets d ON d.id = wanted.id OR wanted.id IS NULL AND lower(d.handle) = lower(wanted.name)
     WHERE ${seesHandle('d.handle') ?? 'true'}`,
    [names, names.map((name) => (isUuid(name) ? name : null))],
  );
  for (const { name } of datasets) found.set(name, new Map());
  const idOf = new Map(datasets.map(({ name, id }) => [name, id]));
  const wanted = links.flatMap(({ dataset, sha256 }) => {
    const id = SHA256.test(sha256) ? idOf.get(dataset) : undefined;
    return id === undefined ? [] : [{ id, sha256 }];
  });
  const files = await query<LinkedFile & { datasetId: string }>(
    `SELECT DISTINCT d.dataset_id AS "datasetId", encode(a.sha256, 'hex') AS sha256, a.byte_length::float8 AS "byteLength"
     FROM unnest($1::uuid[], $2::text[]) AS wanted (id, sha256)
       JOIN dataset_assets d ON d.dataset_id = wanted.id AND d.sha256 = decode(wanted.sha256, 'hex')
       JOIN assets a ON a.sha256 = d.sha256`,
    [wanted.map(({ id }) => id), wanted.map(({ sha256 }) => sha256)],
  );
  const byId = Map.groupBy(files, ({ datasetId }) => datasetId);
  for (const { name, id } of datasets) {
    for (const { sha256, byteLength } of byId.get(id) ?? [])
      found.get(name)?.set(sha256, { sha256, byteLength });
  }
  return found;
}

const SHA256 = /^[0-9a-f]{64}$/;
