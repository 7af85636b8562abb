import { createHash } from 'node:crypto';
import { compareUtf8 } from '@svc/jsonl-v23/internal';
import { type JsonBody, json, type Route, type RouteRequest } from '@svc/service';
import type { LayoutKey } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import type { MeasuredFile } from './files/hub-files.ts';
import {
  entryNotFound,
  FOLDERS,
  isFilePath,
  layoutOf,
  makeTopFile,
  type Repository,
  readRepository,
  TOP_FILES,
} from './repository.ts';
import {
  fromCursor,
  HUB_READ,
  isTrue,
  limitOf,
  listQuery,
  listResponse,
  nextPage,
  toCursor,
} from './shared.ts';

const MAX_ENTRIES = 1_000;
const MAX_PATHS = 2_000;

const ENTRIES = {
  type: 'array',
  description: 'files and folders',
  items: {
    type: 'object',
    description: 'a file or a folder',
    properties: {
      type: { type: 'string', enum: ['file', 'directory'] },
      oid: { type: 'string' },
      size: { type: 'integer' },
      path: { type: 'string' },
    },
    required: ['type', 'oid', 'size', 'path'],
  },
} as const;

interface Entry {
  readonly path: string;
  /** Null for a folder. */
  readonly byteLength: number | null;
  readonly tag: string;
}

/** `GET …/tree/{revision}`, also of a folder, and `POST …/paths-info/{revision}`. */
export function treeRoutes(deps: RouteDeps): readonly Route[] {
  const tree = {
    ...HUB_READ,
    query: {
      recursive: { type: 'string', description: '`true`: files in folders too' },
      expand: { type: 'string', description: '`true`: each entry with its commit' },
      ...listQuery('entries', '1,000'),
    },
    responses: listResponse(ENTRIES),
    handle: (request: RouteRequest) =>
      readRepository(deps, request, (repository) => listTree(deps, repository, request)),
  };
  return [
    {
      ...tree,
      path: '/api/datasets/svc/{repo}/tree/{revision}',
      operationId: 'listHubFiles',
      summary: 'The files and folders of a repository',
    },
    {
      ...tree,
      path: '/api/datasets/svc/{repo}/tree/{revision}/{+folder}',
      operationId: 'listHubFolder',
      summary: 'The files of a folder of a repository',
    },
    {
      ...HUB_READ,
      method: 'post',
      path: '/api/datasets/svc/{repo}/paths-info/{revision}',
      operationId: 'findHubFiles',
      summary: 'Find some paths of a repository',
      body: {
        contentType: 'application/json',
        acceptsForm: true,
        schema: {
          type: 'object',
          properties: {
            paths: {
              type: ['array', 'string'],
              items: { type: 'string' },
              maxItems: MAX_PATHS,
            },
            expand: { type: ['boolean', 'string'] },
          },
          required: ['paths'],
        },
        documented: {
          type: 'object',
          properties: {
            paths: { type: 'array', items: { type: 'string' }, maxItems: MAX_PATHS },
            expand: { type: 'boolean' },
          },
          required: ['paths'],
        },
      },
      responses: { 200: { description: 'the entries', schema: ENTRIES } },
      handle: (request) =>
        readRepository(deps, request, (repository) => findPaths(deps, repository, request)),
    },
  ];
}

async function listTree(
  deps: RouteDeps,
  repository: Repository,
  request: RouteRequest,
): Promise<ReturnType<typeof json>> {
  const { params, query, signal } = request;
  const folder = (params['folder'] ?? '').replace(/\/$/, '');
  if (folder !== '' && !FOLDERS.includes(folder)) throw entryNotFound(repository.commit);
  const key = await layoutOf(deps, repository, signal);
  const limit = limitOf(query['limit'], MAX_ENTRIES);
  const cursor = fromCursor(query['cursor']);
  const after = isFilePath(cursor) || TOP_FILES.includes(cursor) || FOLDERS.includes(cursor) ? cursor : '';
  const above = folder === '' ? await topEntries(deps, repository, key, signal) : [];
  const hasFiles = folder !== '' || isTrue(query['recursive']);
  const page = { folder: folder === '' ? '' : `${folder}/`, after, limit: limit + 1 };
  const listed = hasFiles ? await deps.store.hubFiles.list(key, page, signal) : [];
  const paths = listed.map(({ path }) => path);
  const files = listed.some(({ byteLength }) => byteLength === null)
    ? await deps.files.find(key, paths, signal)
    : (listed as readonly MeasuredFile[]);
  const entries: readonly Entry[] = [
    ...above.filter(({ path }) => compareUtf8(path, after) > 0),
    ...files,
  ].sort((a, b) => compareUtf8(a.path, b.path));
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? toCursor(shown.at(-1)?.path ?? '') : null;
  const body = shown.map((entry) => serializeEntry(entry, repository, isTrue(query['expand'])));
  return json(body, 200, nextPage(request, next));
}

async function findPaths(
  deps: RouteDeps,
  repository: Repository,
  { body, signal }: RouteRequest,
): Promise<ReturnType<typeof json>> {
  const key = await layoutOf(deps, repository, signal);
  const { paths, expand } = body as { readonly paths: string | readonly string[]; readonly expand?: unknown };
  const wanted = new Set([paths].flat());
  const isAbove = [...TOP_FILES, ...FOLDERS].some((path) => wanted.has(path));
  const above = isAbove ? await topEntries(deps, repository, key, signal) : [];
  const files = await deps.files.find(key, [...wanted].filter(isFilePath), signal);
  const entries = [...above.filter(({ path }) => wanted.has(path)), ...files];
  return json(entries.map((entry) => serializeEntry(entry, repository, isTrue(expand))));
}

/** The folders, and the files beside them. */
async function topEntries(
  deps: RouteDeps,
  repository: Repository,
  key: LayoutKey,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const files = await Promise.all(
    TOP_FILES.map((path) => makeTopFile(deps, repository, { path, key }, signal)),
  );
  const folders = FOLDERS.map((path): Entry => {
    const hash = createHash('sha256').update(`${repository.commit}/${path}`).digest('hex');
    return { path, byteLength: null, tag: hash };
  });
  return [
    ...files.map(({ path, bytes, sha256 }) => ({ path, byteLength: bytes.byteLength, tag: sha256 })),
    ...folders,
  ];
}

function serializeEntry(
  { path, byteLength, tag }: Entry,
  { commit, dataset }: Repository,
  isExpanded: boolean,
): JsonBody {
  const lastCommit = { id: commit, title: `Version ${dataset.version}`, date: dataset.updatedAt };
  return {
    type: byteLength === null ? 'directory' : 'file',
    oid: tag.slice(0, 40),
    size: byteLength ?? 0,
    path,
    ...(isExpanded ? { lastCommit } : {}),
  };
}
