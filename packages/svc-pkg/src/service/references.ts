import type { DatasetSummary } from '@svc/client';
import { type DatasetReference, given } from '../cli-context.ts';
import { CliError, ServiceError, usageError } from '../errors/cli-error.ts';
import { type JsonResponse, listPages, type ServiceClient } from './service-client.ts';

/** A number, or at least 8 digits of a version hash. */
const VERSION = /^(?:[1-9]\d{0,8}|[0-9a-f]{8,64})$/;

/** How a command line names a dataset, for help. */
export const DATASET_ARGUMENT = 'id or handle of the dataset, or its name if it is unique';
/** How a command line names a version of a dataset, for help. */
export const VERSION_ARGUMENT: string = `${DATASET_ARGUMENT}; @ and a version after it reads that version`;

/**
 * Reads `dataset@version`. Text after the last `@` that is not a version belongs to the name: a dataset whose name ends like a
 * version is named by its id or handle.
 */
export function parseDatasetReference(text: string): DatasetReference {
  const at = text.lastIndexOf('@');
  const version = text.slice(at + 1);
  return at > 0 && VERSION.test(version)
    ? { dataset: text.slice(0, at), version }
    : { dataset: text, version: undefined };
}

/** @throws CliError `usage` */
export function checkVersion(text: string): string {
  if (VERSION.test(text)) return text;
  throw usageError(
    `A version must be a number or at least 8 digits of a version hash, got ${JSON.stringify(text)}`,
  );
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HANDLE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

/** Whether a text is the id of a dataset. */
export const isDatasetId = (text: string): boolean => UUID.test(text);

/** An error for an ambiguous name lists this many ids. */
const MAX_LISTED = 5;

/** A dataset of a service, and perhaps one of its versions. */
export interface FoundVersion {
  readonly id: string;
  /** Number, or digits of a version hash; undefined for the newest. */
  readonly version: string | undefined;
}

/** Finds the dataset of `dataset@version` by its id, its handle or its unique name, in this order. */
export async function findVersion(service: ServiceClient, reference: string): Promise<FoundVersion> {
  const { dataset, version } = parseDatasetReference(reference);
  if (isDatasetId(dataset)) return { id: dataset, version };
  const id = (await findHandle(service, dataset)) ?? (await findName(service, dataset));
  return { id, version };
}

/** For commands that concern all versions of a dataset. @throws CliError `usage` for a reference with a version */
export async function findDataset(service: ServiceClient, reference: string): Promise<string> {
  const { version } = parseDatasetReference(reference);
  if (version === undefined) return (await findVersion(service, reference)).id;
  throw usageError(
    `This concerns a dataset with all of its versions: leave @${version} out, or use the id of the dataset`,
  );
}

export function readDataset(
  service: ServiceClient,
  { id, version }: { readonly id: string; readonly version?: string | undefined },
): Promise<JsonResponse<DatasetSummary>> {
  const params = { path: { id }, query: given({ version }) };
  return service.read(service.api.GET('/datasets/{id}', { params }));
}

async function findHandle(service: ServiceClient, handle: string): Promise<string | undefined> {
  if (!HANDLE.test(handle)) return undefined;
  try {
    const { value } = await readDataset(service, { id: handle });
    return checkId(service, value?.id);
  } catch (error) {
    if (error instanceof ServiceError && error.details.status === 404) return undefined;
    throw error;
  }
}

async function findName(service: ServiceClient, name: string): Promise<string> {
  const { data } = await listPages(100, (page) =>
    service.api.GET('/datasets', { params: { query: { name, ...page } } }),
  );
  const ids = data.map((dataset: { readonly id?: unknown } | null) => checkId(service, dataset?.id));
  return onlyOne(name, ids);
}

/** Ids become part of file names. */
function checkId({ url }: ServiceClient, id: unknown): string {
  if (typeof id === 'string' && isDatasetId(id)) return id;
  throw new CliError('bad_response', `${url}/datasets returned an id that is not a UUID`);
}

/** The only dataset with a name. */
export function onlyOne(name: string, ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined) throw new CliError('dataset_not_found', `Dataset ${JSON.stringify(name)} not found`);
  if (ids.length === 1) return id;
  const listed = ids.slice(0, MAX_LISTED).join(', ');
  const more = ids.length > MAX_LISTED ? ', ...' : '';
  throw new CliError(
    'dataset_ambiguous',
    `Several datasets are named ${JSON.stringify(name)}; use an id: ${listed}${more}`,
  );
}

/** @throws CliError `usage` for an id that would be another path */
export function runParams(id: string): { readonly path: { readonly id: string } } {
  if (/[^.]/.test(id)) return { path: { id } };
  throw usageError(`The id of a run must not be ${JSON.stringify(id)}`);
}

export const runPath = (id: string, name: string): string =>
  `/runs/${encodeURIComponent(runParams(id).path.id)}/${name}`;
