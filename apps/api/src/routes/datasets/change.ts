import { PackageError } from '@svc/pkg-format';
import {
  invalidRequest,
  type JsonBody,
  json,
  type Route,
  type RouteRequest,
  type RouteResponse,
  type Schema,
  toJsonText,
} from '@svc/service';
import {
  type DryRun,
  dryRun,
  type ImportNotes,
  type ImportSource,
  importDataset,
  importNotes,
  importNotesJson,
  observeImport,
  requestFailure,
} from '@svc/service/flows';
import {
  type ChangedDataset,
  checkOwnHandle,
  type DatasetSummary,
  datasetExists,
  type IdempotencyClaim,
  type Idempotent,
  ImportReport,
  type ImportTarget,
  type Store,
  type StoredImport,
  type StoredResponse,
  StoreError,
} from '@svc/service/store';
import type { RouteDeps } from '../deps.ts';
import { CHANGED_DATASET, SUMMARY } from '../docs/schemas.ts';
import { serializeDryRun } from '../hub/schema.ts';

export const DATASET_CHANGE = { method: 'post', tag: 'datasets', access: 'editor' } as const;

export const MESSAGE: Schema = {
  type: 'string',
  maxLength: 1000,
  format: 'storable-text',
  description: 'message of the change in the history',
};

export const MESSAGE_OR_NULL: Schema = { ...MESSAGE, type: ['string', 'null'] };

export const IF_MATCH: Schema = {
  type: 'string',
  description: '`version_hash` of the newest version, in quotes: the change fails if there is a newer one',
};

export const DRY_RUN_QUERY: Schema = {
  type: 'boolean',
  default: false,
  description: 'compare without storing anything',
};

export const CHANGE_HEADERS: Readonly<Record<string, Schema>> = {
  'If-Match': IF_MATCH,
  'X-Version-Message': {
    type: 'string',
    description: 'message of the change in the history, as percent-encoded UTF-8; instead of `message`',
  },
};

export const CHANGE_RESPONSES: Route['responses'] = {
  200: {
    description: 'nothing changed: the newest version already has this content',
    schema: CHANGED_DATASET,
  },
  201: { description: 'the new version', schema: CHANGED_DATASET },
};

export interface ChangeFacts {
  readonly message: string | null;
  readonly author: string | null;
  readonly ifMatch: string | undefined;
}

/** @param message of the body, which comes before those of the query and of the header */
export function changeFacts(
  { header, query, caller }: Pick<RouteRequest, 'header' | 'query' | 'caller'>,
  message: string | null | undefined,
): ChangeFacts {
  return {
    message: checkMessage(message ?? (query['message'] as string | undefined) ?? readMessage(header) ?? null),
    author: caller.key === undefined ? null : caller.name,
    ifMatch: readIfMatch(header('if-match')),
  };
}

export function importOperation(
  route: string,
  request: Pick<RouteRequest, 'header' | 'query' | 'caller'>,
): string {
  const ifExists = request.query['if_exists'];
  const { message, ifMatch = null } = changeFacts(request, null);
  const change = message === null && ifMatch === null ? '' : ` ${JSON.stringify([message, ifMatch])}`;
  return `${route}${ifExists === undefined ? '' : `?if_exists=${ifExists}`}${change}`;
}

function readMessage(header: RouteRequest['header']): string | undefined {
  const encoded = header('x-version-message');
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch (error) {
    throw invalidRequest('X-Version-Message', 'X-Version-Message must be percent-encoded UTF-8.', error);
  }
}

/** The schemas of bodies and queries check the same; fields of forms and headers have none. */
function checkMessage(message: string | null): string | null {
  if (message === null || message === '') return null;
  if (!message.isWellFormed() || message.includes('\0')) {
    throw invalidRequest('message', 'message must hold neither NUL nor half of a surrogate pair.');
  }
  const { length } = [...message];
  if (length <= 1000) return message;
  throw invalidRequest('message', `message must have at most 1,000 characters, got ${length}.`);
}

/** The hash in an `If-Match` header; undefined for any. @throws RequestError `invalid_request` */
export function readIfMatch(value: string | undefined): string | undefined {
  if (value === undefined || value.trim() === '*') return undefined;
  const hash = /^\s*"([0-9a-f]{64})"\s*$/.exec(value)?.[1];
  if (hash !== undefined) return hash;
  throw invalidRequest('If-Match', 'If-Match must be the version_hash of a version, in quotes.');
}

export type IfExists = 'reuse' | 'version' | 'error';

export const IF_EXISTS: Readonly<Record<'if_exists', Schema>> = {
  if_exists: {
    type: 'string',
    enum: ['reuse', 'version', 'error'],
    description:
      'what to do if a dataset with the same handle exists, or, without a handle, one with the same name and hash: `reuse` returns it (200), `version` stores the content as its next version, `error` refuses the request',
  },
};

export const TARGET_ERRORS: readonly string[] = ['handle_taken', 'dataset_exists'];

export interface WantedTarget extends ChangeFacts {
  readonly handle: string | null;
  readonly ifExists: IfExists | undefined;
  readonly source: 'upload' | 'hub';
  readonly signal: AbortSignal;
}

/** With `if_exists=version`, the target is the next version of the dataset with its handle. */
export async function importTarget(
  datasets: Pick<Store['datasets'], 'resolve'>,
  { handle, ifExists, source, ifMatch, message, author, signal }: WantedTarget,
): Promise<ImportTarget> {
  // Files of other tools may join a dataset; rows of the hub never do.
  if (handle === null && source === 'hub') checkOwnHandle(null);
  if (ifExists === 'version' && handle === null) {
    throw invalidRequest('handle', 'if_exists=version needs a handle.');
  }
  const existing = handle === null ? null : await findByHandle(datasets, handle, signal);
  if (existing !== null) {
    if (ifExists === 'version') {
      const facts = { ifMatch, message, author, source };
      return { kind: 'version', change: { datasetId: existing, mode: 'replace', ...facts } };
    }
    if (ifExists === 'error') throw datasetExists(existing);
    if (ifExists === undefined) {
      throw new StoreError('handle_taken', `Another dataset has the handle "${handle}".`);
    }
  }
  // A dataset that gets the handle in the meantime is not the one of `If-Match`.
  const kept = ifExists === 'version' && ifMatch !== undefined ? null : (ifExists ?? null);
  return { kind: 'dataset', handle, ifExists: kept, message, author };
}

async function findByHandle(
  datasets: Pick<Store['datasets'], 'resolve'>,
  handle: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return (await datasets.resolve(handle, undefined, signal)).id;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'dataset_not_found') return null;
    throw error;
  }
}

export interface WantedImport {
  readonly source: ImportSource;
  readonly target: ImportTarget;
  /** The other runs of a file: each joins the dataset that has its items by then, or makes one. */
  readonly further?: readonly ImportSource[];
}

/** Imports within a request. @param claim of an idempotent request, which gets the response */
export async function importNow(
  deps: RouteDeps,
  { source, target, further = [] }: WantedImport,
  signal: AbortSignal,
  claim: IdempotencyClaim | undefined,
): Promise<StoredResponse> {
  const wanted = [{ source, target }, ...further.map((one) => ({ source: one, target: joining(target) }))];
  const done: ImportDone[] = [];
  for (const [index, one] of wanted.entries()) {
    // The last one answers the request, with what all of them have made.
    const of = (last: ImportDone): StoredResponse => importStored([...done, last]);
    const isLast = index === further.length;
    done.push(await importOne(deps, one, signal, isLast && claim !== undefined ? { claim, of } : null));
  }
  return importStored(done);
}

interface ImportDone extends ImportNotes {
  readonly stored: StoredImport;
}

/** The target of a further run of a file. @throws PackageError where the file is to change a dataset */
function joining(target: ImportTarget): ImportTarget {
  if (target.kind === 'dataset') return { ...target, handle: null, ifExists: null };
  const message = 'Files with several runs cannot be the next version of a dataset.';
  throw new PackageError('package_unsupported', message);
}

async function importOne(
  { store, ...observers }: RouteDeps,
  { source, target }: Pick<WantedImport, 'source' | 'target'>,
  signal: AbortSignal,
  response: Idempotent<ImportDone> | null,
): Promise<ImportDone> {
  const report = new ImportReport();
  await using draft = await store.datasets.begin({ signal, report, target });
  const observed = observeImport(observers, source.start, target, draft);
  try {
    const content = await importDataset(source, draft, report, signal);
    const doneWith = (stored: StoredImport): ImportDone => ({
      stored,
      ...importNotes(source, report),
    });
    const answer = response && {
      claim: response.claim,
      of: (stored: StoredImport) => response.of(doneWith(stored)),
    };
    const stored = await draft.commit({ ...content, response: answer ?? undefined });
    observed.finished(stored);
    return doneWith(stored);
  } catch (error) {
    observed.failed(error, requestFailure(error, signal));
    throw error;
  }
}

/** Does what an import does, stores nothing, and responds with what it found. */
export async function dryRunNow(
  { store }: RouteDeps,
  { source, target, further = [] }: WantedImport,
  signal: AbortSignal,
): Promise<RouteResponse> {
  const found: DryRun[] = [];
  for (const [index, one] of [source, ...further].entries()) {
    const report = new ImportReport();
    const wanted = index === 0 ? target : joining(target);
    await using draft = await store.datasets.begin({ signal, report, target: wanted, dryRun: true });
    found.push(await dryRun(one, draft, report, signal));
  }
  return json(serializeDryRun(found.find(({ errorsTotal }) => errorsTotal > 0) ?? (found[0] as DryRun)));
}

/** The response to an import: of a change, a new dataset, or one that is used again; with several runs, of the first. */
function importStored(done: readonly ImportDone[]): StoredResponse {
  const [first] = done as readonly [ImportDone];
  const { dataset, changed, isNew, runId } = first.stored;
  const warnings = [...new Set(done.flatMap((one) => one.warnings))];
  const notes = { ...first, warnings };
  if (changed !== null) return datasetChanged(dataset, changed, notes, runId);
  const runs = done.map(({ stored }) => ({ dataset_id: stored.dataset.id, run_id: stored.runId }));
  return {
    status: isNew ? 201 : 200,
    headers: { Location: `/datasets/${dataset.id}` },
    body: toJsonText({
      ...serializeSummary(dataset),
      ...importNotesJson(notes),
      ...(isNew || runId === null ? {} : { dataset_id: dataset.id, run_id: runId }),
      ...(runs.length === 1 ? {} : { runs }),
    }),
  };
}

export function datasetChanged(
  dataset: DatasetSummary,
  { isNew, change, version }: ChangedDataset,
  notes?: ImportNotes,
  runId: string | null = null,
): StoredResponse {
  return {
    status: isNew ? 201 : 200,
    headers: { Location: `/datasets/${dataset.id}?version=${version}` },
    body: toJsonText({
      ...serializeSummary(dataset),
      change: { ...change },
      ...(runId === null ? {} : { run_id: runId }),
      ...(notes === undefined ? {} : importNotesJson(notes)),
    }),
  };
}

/** Above this size, a summary omits the metadata of an uploaded package; the dataset itself has it. */
const MAX_SUMMARY_SCHEMA_BYTES = 64 * 1024;

const TRUNCATED_SCHEMAS = {
  pkg_zip: '{"source":"pkg_zip","package":null,"truncated":true}',
  file: '{"source":"file","files":null,"truncated":true}',
} as const;

export function serializeSummary(dataset: DatasetSummary): Record<string, JsonBody> {
  const { source, schema } = dataset;
  const isLarge = source !== 'hub' && Buffer.byteLength(schema) > MAX_SUMMARY_SCHEMA_BYTES;
  return SUMMARY.toBody(isLarge ? { ...dataset, schema: TRUNCATED_SCHEMAS[source] } : dataset);
}
