import { CliError } from '../errors/cli-error.ts';
import { listPages } from './client/list-pages.ts';
import type { ServiceClient } from './client/service-client.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text is the id of a dataset. */
export const isDatasetId = (text: string): boolean => UUID.test(text);

/** An error for an ambiguous name lists this many ids. */
const MAX_LISTED = 5;

/**
 * The id of the dataset with this id or this unique name.
 *
 * @throws CliError `dataset_not_found`, `dataset_ambiguous`, `bad_response`; as `ServiceClient.send`
 */
export async function findDataset(service: ServiceClient, idOrName: string): Promise<string> {
  if (isDatasetId(idOrName)) return idOrName;
  const { data } = await listPages(100, (page) =>
    service.api.GET('/datasets', { params: { query: { name: idOrName, ...page } } }),
  );
  const ids = data.map((dataset: { readonly id?: unknown } | null) => String(dataset?.id));
  // Ids become part of file names.
  if (!ids.every(isDatasetId))
    throw new CliError('bad_response', `${service.url}/datasets returned an id that is not a UUID`);
  return onlyOne(idOrName, ids);
}

/** A version of a dataset. */
export interface NamedVersion {
  readonly id: string;
  /** Its number, or the beginning of its hash; undefined for the newest. */
  readonly version: string | undefined;
}

const VERSION = /^(.+)@([1-9]\d{0,8}|[0-9a-f]{8,64})$/s;

/** The version of a dataset that `<id or name>` or `<id or name>@<version>` names. @throws as {@link findDataset} */
export async function findVersion(service: ServiceClient, text: string): Promise<NamedVersion> {
  const [, name = text, version] = VERSION.exec(text) ?? [];
  return { id: await findDataset(service, name), version };
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
