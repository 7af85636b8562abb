import { CliError } from '../errors/cli-error.ts';
import type { ServiceClient } from './service-client.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a dataset is named by its id. */
export const isDatasetId = (text: string): boolean => UUID.test(text);

/** Several datasets may bear one name; these many of their ids stand in the error. */
const MAX_SHOWN = 5;

/**
 * The id of the dataset that a person names: the id itself, or a name that only one dataset bears.
 *
 * @throws CliError `dataset_not_found`, `dataset_ambiguous`, `bad_response`; as `ServiceClient.send`
 */
export async function findDataset(service: ServiceClient, idOrName: string): Promise<string> {
  if (isDatasetId(idOrName)) return idOrName;
  const { value } = await service.sendForJson<{ data?: readonly { readonly id: string }[] }>({
    method: 'GET',
    path: '/datasets',
    query: { name: idOrName, limit: '100' },
  });
  if (!Array.isArray(value.data))
    throw new CliError('bad_response', `${service.url} answered /datasets without a list`);
  const ids = value.data.map((dataset: { readonly id?: unknown } | null) => String(dataset?.id));
  // An id becomes a part of a file name.
  if (!ids.every(isDatasetId))
    throw new CliError('bad_response', `${service.url} answered /datasets with an id that is no UUID`);
  return onlyOne(idOrName, ids);
}

/** Of the datasets that bear a name, the only one. */
export function onlyOne(name: string, ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined)
    throw new CliError('dataset_not_found', `There is no dataset named ${JSON.stringify(name)}`);
  if (ids.length === 1) return id;
  const shown = ids.slice(0, MAX_SHOWN).join(', ');
  const more = ids.length > MAX_SHOWN ? ', ...' : '';
  throw new CliError(
    'dataset_ambiguous',
    `Several datasets are named ${JSON.stringify(name)}; name one by its id: ${shown}${more}`,
  );
}
