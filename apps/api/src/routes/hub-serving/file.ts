import { basename } from 'node:path/posix';
import type { Route } from '@svc/runtime';
import { rangedResponse, rangedRoute } from '../../http/byte-range.ts';
import { contentDisposition } from '../../http/download.ts';
import { SAFE } from '../../http/media-headers.ts';
import { fileBytes } from './files/file-bytes.ts';
import { readSections } from './files/layout-version.ts';
import {
  CARD,
  entryNotFound,
  type HubServingDeps,
  isFilePath,
  layoutOf,
  makeCard,
  type Repository,
  readRepository,
} from './repository.ts';
import { HUB_READ } from './shared.ts';
import type { ItemEncoder } from './thread/item-encoder.ts';

export interface FileDeps extends HubServingDeps {
  readonly encoder: ItemEncoder;
}

/** A file that is about to be sent. */
interface OpenFile {
  readonly byteLength: number;
  readonly sha256: string;
  readonly mediaType: string;
  bytes(range: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
}

/** `GET /datasets/svc/{repo}/resolve/{revision}/{file}`: a file, or a range of it. */
export function fileRoute(deps: FileDeps): Route {
  return {
    ...HUB_READ,
    ...rangedRoute('the file'),
    path: '/datasets/svc/{repo}/resolve/{revision}/{+file}',
    operationId: 'downloadHubFile',
    summary: 'A file of a repository, or a range of it; the cost depends on the range, not on the file',
    query: {},
    errors: [...HUB_READ.errors, 'range_not_satisfiable', 'item_too_large', 'asset_missing'],
    handle: async (request) => {
      const { params, signal } = request;
      const path = params['file'] ?? '';
      const { repository, file } = await readRepository(deps, request, async (found) => {
        return { repository: found, file: await openFile(deps, found, path, signal) };
      });
      return rangedResponse(request, {
        byteLength: file.byteLength,
        etag: `"${file.sha256}"`,
        headers: { ...SAFE, 'X-Repo-Commit': repository.commit, 'Cache-Control': 'private, no-cache' },
        bodyHeaders: {
          'Content-Type': file.mediaType,
          'Content-Disposition': contentDisposition(basename(path)),
        },
        read: file.bytes,
      });
    },
  };
}

/** @throws RequestError `not_found` for a path that is not a file */
async function openFile(
  deps: FileDeps,
  repository: Repository,
  path: string,
  signal: AbortSignal,
): Promise<OpenFile> {
  if (path !== CARD && !isFilePath(path)) throw entryNotFound(repository.commit);
  const layout = await layoutOf(deps, repository, signal);
  if (path === CARD) {
    const { bytes, sha256 } = await makeCard(deps, repository, layout, signal);
    return {
      byteLength: bytes.byteLength,
      sha256,
      mediaType: 'text/markdown; charset=utf-8',
      async *bytes({ start, end }) {
        yield bytes.subarray(start, end);
      },
    };
  }
  const file = await deps.store.hubFiles.find(layout.key, path, signal);
  if (file === null) throw entryNotFound(repository.commit);
  return {
    byteLength: file.byteLength,
    sha256: file.sha256,
    mediaType: path.endsWith('.parquet') ? 'application/vnd.apache.parquet' : 'application/jsonl',
    async *bytes(range) {
      const sections = await readSections(deps.store, layout.key, signal);
      const section = sections.find(({ id }) => id === file.sectionId)?.name ?? '';
      const hasFiles = repository.dataset.assetCount > 0;
      yield* fileBytes(deps.encoder, { file, section, columns: layout.columns, hasFiles }, range, signal);
    },
  };
}
