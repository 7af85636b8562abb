import { createHash } from 'node:crypto';
import { type ErrorView, RequestError, type Route, type RouteRequest, type Schema } from '@svc/service';
import {
  type DatasetSummary,
  HANDLE_PREFIX,
  type LayoutKey,
  type Store,
  StoreError,
} from '@svc/service/store';
import type { RouteDeps } from '../deps.ts';
import { type CardFacts, cardText, evalYaml } from './files/card.ts';
import { isGone, type MeasuredFile } from './files/hub-files.ts';
import { readSections } from './files/plan-files.ts';

/** What the routes for clients of the hub share. They ignore parameters of a query that they do not know. */
export const HUB_READ = {
  method: 'get',
  tag: 'hub-serving',
  access: 'viewer',
  ignoresQuery: true,
  errors: ['not_found'],
} as const;

export const listQuery = (entries: string, max: string): Readonly<Record<'limit' | 'cursor', Schema>> => ({
  limit: { type: 'string', description: `${entries} of a page, ${max} at most` },
  cursor: { type: 'string', maxLength: 2_000, description: 'as `Link` has it' },
});

export const listResponse = (schema: Schema): Route['responses'] => ({
  200: { description: 'a page; the header `Link` names the next one', schema },
});

export const OBJECTS: Schema = { type: 'array', items: { type: 'object', additionalProperties: true } };

/** Whether a text of a query is true: clients of Python write `True`. */
export const isTrue = (value: unknown): boolean => String(value).toLowerCase() === 'true' || value === '1';

export function limitOf(value: unknown, max: number): number {
  const limit = /^\d{1,9}$/.test(String(value)) ? Number(value) : max;
  return Math.min(Math.max(1, limit), max);
}

/** The header that names the next page, with an absolute address, as clients follow it. */
export function nextPage(
  { raw, isSecure }: RouteRequest,
  cursor: string | null,
): Readonly<Record<string, string>> {
  if (cursor === null) return {};
  const query = new URLSearchParams(raw.originalUrl.split('?')[1] ?? '');
  query.set('cursor', cursor);
  const origin = `${isSecure ? 'https' : 'http'}://${raw.get('host') ?? ''}`;
  return { Link: `<${origin}${raw.path}?${query}>; rel="next"` };
}

export const toCursor = (text: string): string => Buffer.from(text).toString('base64url');

export const fromCursor = (cursor: unknown): string =>
  typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';

const API = /^\/api(?:\/|$)/;
const FILE = /^\/datasets\/[^/]+(?:\/[^/]+)?\/resolve\//;
/** Repositories of other owners than `svc`. */
const FOREIGN = /^(?:\/api)?\/datasets\/(?!svc\/)[^/]+\/[^/]+/;

/** Adds to an error what clients of the hub read: `X-Error-Code` and `X-Error-Message`. Errors of other paths stay as they are. */
export function withHubHeaders(view: ErrorView, path: string): ErrorView {
  if (!API.test(path) && !FILE.test(path)) return view;
  const code = codeOf(view, path);
  const headers = {
    ...(code === undefined ? {} : { 'X-Error-Code': code }),
    'X-Error-Message': view.detail.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 500),
    ...view.headers,
  };
  return { ...view, headers };
}

function codeOf({ row }: ErrorView, path: string): HubErrorCode | undefined {
  if (row.status === 401) return 'RepoNotFound';
  return row.status === 404 && FOREIGN.test(path) ? 'RepoNotFound' : undefined;
}

export type Repository = Awaited<ReturnType<typeof findRepository>>;

export const commitOf = (versionHash: string): string => versionHash.slice(0, 40);

export const repositoryName = ({ handle, id }: Pick<DatasetSummary, 'handle' | 'id'>): string =>
  `svc/${handle ?? id}`;

const NEWEST: ReadonlySet<string> = new Set(['main', 'HEAD', 'refs/heads/main']);
const TAG = /^(?:refs\/tags\/)?v([1-9]\d{0,8})$/;
const COMMIT = /^[0-9a-f]{8,64}$/;

/** `{revision}` may be `main`, `v<version>` or a commit. @throws RequestError `not_found` with the code that clients know */
async function findRepository(
  { store }: RouteDeps,
  { params: { repo: name = '', revision = 'main' }, signal }: Pick<RouteRequest, 'params' | 'signal'>,
) {
  const tag = TAG.exec(revision)?.[1];
  const wanted = NEWEST.has(revision) ? undefined : (tag ?? (COMMIT.test(revision) ? revision : null));
  try {
    const { id, version } = await store.datasets.resolve(name, wanted ?? undefined, signal);
    const dataset = await store.datasets.get(id, { version, signal });
    const isOther =
      tag === undefined
        ? wanted !== undefined && !dataset.versionHash.startsWith(revision)
        : dataset.version !== Number(tag);
    if (wanted === null || isOther) throw revisionNotFound(revision);
    return { name: repositoryName(dataset), dataset, commit: commitOf(dataset.versionHash) };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === 'dataset_not_found') throw await repositoryNotFound(store, name, signal);
    if (error.code === 'version_not_found' || error.code === 'ambiguous_version')
      throw revisionNotFound(revision);
    throw error;
  }
}

/** What is deleted in between is looked for once more: a handle may be another dataset's by then, and `main` a newer version. */
export async function readRepository<Result>(
  deps: RouteDeps,
  request: Pick<RouteRequest, 'params' | 'signal'>,
  read: (repository: Repository) => Promise<Result>,
): Promise<Result> {
  const repository = await findRepository(deps, request);
  try {
    return await read(repository);
  } catch (error) {
    if (!isGone(error)) throw error;
    return await read(await findRepository(deps, request));
  }
}

export type HubErrorCode = 'RepoNotFound' | 'RevisionNotFound' | 'EntryNotFound';

function hubNotFound(code: HubErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
  return new RequestError('not_found', message, { headers: { ...headers, 'X-Error-Code': code } });
}

/** Says too where a dataset has this name and not the handle; a name that cannot be a handle is not looked for. */
async function repositoryNotFound(
  store: Pick<Store, 'datasets'>,
  name: string,
  signal: AbortSignal,
): Promise<RequestError> {
  const { data } = HANDLE_PREFIX.test(name)
    ? await store.datasets.list({ name, limit: 1, signal })
    : { data: [] };
  const hint =
    data[0] === undefined
      ? ''
      : ` A dataset has this name, but not this handle: svc-pkg rename ${name} --handle ${name}`;
  return hubNotFound('RepoNotFound', `Repository not found.${hint}`);
}

const revisionNotFound = (revision: string): RequestError =>
  hubNotFound('RevisionNotFound', `Invalid rev id: ${revision.slice(0, 100)}`);

export const entryNotFound = (commit: string): RequestError =>
  hubNotFound('EntryNotFound', 'Entry not found.', { 'X-Repo-Commit': commit });

export const CARD = 'README.md';
const TASKS = 'eval.yaml';
export const TOP_FILES: readonly string[] = [CARD, TASKS];
export const FOLDERS: readonly string[] = ['data', 'items'];

export const isFilePath = (path: string): boolean =>
  path.length < 1_000 && /^(?:data\/[\p{L}\p{N}_.-]+\.parquet|items\/[\p{L}\p{N}_.]+\.jsonl)$/u.test(path);

/** The label of runs whose scores stand in the card, and how many of them do. */
const PUBLISHED = 'publish';
const MAX_PUBLISHED = 100;

/** What a card says: of the files and their columns, and of name and description as they are now. */
export async function readCardFacts(
  { store }: RouteDeps,
  { name, dataset }: Repository,
  key: LayoutKey,
  columns: CardFacts['columns'],
  signal: AbortSignal,
): Promise<CardFacts> {
  const sections = await readSections(store, key, signal);
  const files = await store.hubFiles.sections(key, signal);
  const { data: published } = await store.runs.list({
    ...{ datasetId: dataset.id, version: dataset.version, status: 'completed' },
    ...{ label: PUBLISHED, limit: MAX_PUBLISHED },
  });
  return { repository: name, dataset, sections, columns, files, published };
}

export const makeTopFiles = (deps: RouteDeps, repository: Repository, key: LayoutKey, signal: AbortSignal) =>
  Promise.all(TOP_FILES.map((path) => makeTopFile(deps, repository, { path, key }, signal)));

/** Makes one of {@link TOP_FILES}. It waits until the types of all items are known. */
export async function makeTopFile(
  deps: RouteDeps,
  repository: Repository,
  { path, key }: { readonly path: string; readonly key: LayoutKey },
  signal: AbortSignal,
): Promise<MeasuredFile & { readonly bytes: Uint8Array }> {
  const text =
    path === TASKS
      ? evalYaml(repository.dataset.name, (await deps.files.facts(key, signal)).tasks)
      : cardText(
          await readCardFacts(deps, repository, key, (await deps.files.facts(key, signal)).columns, signal),
        );
  const bytes = Buffer.from(text);
  return { bytes, path, byteLength: bytes.byteLength, tag: createHash('sha256').update(bytes).digest('hex') };
}

export const layoutOf = (
  { files }: RouteDeps,
  { dataset: { id: datasetId, version } }: Repository,
  signal: AbortSignal,
): Promise<LayoutKey> => files.layout({ datasetId, version }, signal);
