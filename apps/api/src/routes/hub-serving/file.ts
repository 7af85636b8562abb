import { basename } from 'node:path/posix';
import { linesToBytes } from '@svc/pkg-format/internal';
import type { Route, RouteRequest } from '@svc/service';
import type { HubFile, ItemLine, LayoutKey, StoredItem } from '@svc/store';
import {
  type ByteRange,
  contentDisposition,
  rangedResponse,
  rangedRoute,
  SAFE,
} from '../../http/send-file.ts';
import type { RouteDeps } from '../deps.ts';
import { readSections } from './files/plan-files.ts';
import {
  CARD,
  entryNotFound,
  isFilePath,
  layoutOf,
  makeTopFile,
  type Repository,
  readRepository,
  TOP_FILES,
} from './repository.ts';
import { HUB_READ } from './shared.ts';

/** A file that is about to be sent. */
interface OpenFile {
  readonly byteLength: number;
  /** 64 hex digits. */
  readonly tag: string;
  readonly mediaType: string;
  bytes(range: ByteRange): AsyncIterable<Uint8Array>;
}

/** `GET /datasets/svc/{repo}/resolve/{revision}/{file}`: a file, or a range of it. */
export function fileRoute(deps: RouteDeps): Route {
  return {
    ...HUB_READ,
    ...rangedRoute('the file'),
    path: '/datasets/svc/{repo}/resolve/{revision}/{+file}',
    operationId: 'downloadHubFile',
    summary: 'A file of a repository, or a range of it',
    query: {},
    errors: [...HUB_READ.errors, 'range_not_satisfiable', 'item_too_large', 'asset_missing'],
    handle: async (request) => {
      const path = request.params['file'] ?? '';
      const { repository, file } = await readRepository(deps, request, async (found) => {
        return { repository: found, file: await openFile(deps, found, path, request) };
      });
      return rangedResponse(request, {
        byteLength: file.byteLength,
        etag: `"${file.tag}"`,
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
  deps: RouteDeps,
  repository: Repository,
  path: string,
  { raw, signal }: RouteRequest,
): Promise<OpenFile> {
  const { commit } = repository;
  const isTop = TOP_FILES.includes(path);
  if (!isTop && !isFilePath(path)) throw entryNotFound(commit);
  const key = await layoutOf(deps, repository, signal);
  if (isTop) {
    const { bytes, sha256 } = await makeTopFile(deps, repository, { path, key }, signal);
    return {
      byteLength: bytes.byteLength,
      tag: sha256,
      mediaType: path === CARD ? 'text/markdown; charset=utf-8' : 'application/yaml',
      async *bytes({ start, end }) {
        yield bytes.subarray(start, end);
      },
    };
  }
  const [file] = await deps.files.find(key, [path], signal, raw.method === 'GET');
  if (file === undefined) throw entryNotFound(commit);
  const { byteLength, tag } = file;
  return path.endsWith('.jsonl')
    ? {
        byteLength,
        tag,
        mediaType: 'application/jsonl',
        bytes: (range) => lineBytes(deps, key, file, range, signal),
      }
    : {
        byteLength,
        tag,
        mediaType: 'application/vnd.apache.parquet',
        bytes: (range) => deps.store.hubFiles.read(tag, range, signal),
      };
}

/** The groups of a short range: only the groups of its lines are read. */
const FEW_GROUPS = 2;

/** A range of the lines of a section, of the groups that it touches, in one snapshot. */
async function* lineBytes(
  { store }: RouteDeps,
  key: LayoutKey,
  file: HubFile,
  { start, end }: ByteRange,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let [at, from] = [0, 0];
  const touched: number[] = [];
  let stop = 0;
  for (const [index, items] of file.groupItems.entries()) {
    const bytes = file.groupBytes[index] ?? 0;
    if (stop + bytes <= start) [at, from] = [at + bytes, from + items];
    else if (stop < end) touched.push(items);
    stop += bytes;
  }
  let to = touched.reduce((sum, items) => sum + items, from);
  const section = (await readSections(store, key, signal)).find(({ id }) => id === file.sectionId);
  if (section === undefined || from >= to) return;
  await using open = await store.hubFiles.openLines(section, signal);
  if (touched.length <= FEW_GROUPS) {
    let last = from;
    let before = at;
    for (const size of await open.sizes(from, to)) {
      if (before + size <= start) [at, from] = [at + size, from + 1];
      if (before < end) last += 1;
      before += size;
    }
    to = last;
  }
  const textOf = (line: ItemLine): Exclude<ItemLine, StoredItem> | AsyncIterable<string> =>
    typeof line === 'string' || !('payload' in line) ? line : store.assets.itemText(line, signal);
  async function* lines(): AsyncGenerator<ReturnType<typeof textOf>[]> {
    for await (const batch of open.between(from, to)) yield batch.map(textOf);
  }
  for await (const bytes of linesToBytes(lines())) {
    const piece = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += bytes.byteLength;
    if (piece.byteLength > 0) yield piece;
  }
}
