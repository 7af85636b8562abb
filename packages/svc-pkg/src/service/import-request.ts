import type { DatasetSummary, HubImportRequest, Job } from '@svc/client';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import { type Cli, given } from '../cli-context.ts';
import { type JsonResponse, repeatLost, type ServiceClient } from './service-client.ts';
import { storedDataset } from './store-dataset.ts';

/** The options of `import-hub` that are not about columns. */
export interface ImportHubOptions {
  readonly name: string;
  readonly description?: string;
  readonly handle?: string;
  readonly ifExists?: 'reuse' | 'version' | 'error';
  readonly split?: string;
  readonly subset?: string;
  readonly revision?: string;
}

/** The body of `POST /datasets/hub/import`, with only the options that were given. */
export function importRequest(
  path: string,
  { name, description, handle, split, subset, revision }: ImportHubOptions,
  mapping: JsonObject,
  token: string | undefined,
): HubImportRequest {
  const config = { path, ...given({ split, subset, revision, token }) };
  // The service checks the mapping.
  return { name, ...given({ description, handle }), config, mapping: mapping as HubImportRequest['mapping'] };
}

/** The query that says what to do with a dataset that exists. */
export const ifExistsQuery = ({
  ifExists,
}: Pick<ImportHubOptions, 'ifExists'>): {
  readonly query: { readonly if_exists?: 'reuse' | 'version' | 'error' };
} => ({
  query: ifExists === undefined ? {} : { if_exists: ifExists },
});

/**
 * Imports a slice of a hub dataset. In the background, a worker imports it and this follows the job to its end, unless the
 * service imports it immediately (RFC 7240 leaves the choice to the service). A lost connection does not import it twice.
 */
export async function importFromHub(
  cli: Cli,
  service: ServiceClient,
  body: HubImportRequest,
  {
    background: inBackground,
    ...options
  }: Pick<ImportHubOptions, 'ifExists'> & { readonly background: boolean },
): Promise<JsonResponse<DatasetSummary>> {
  const { status, value, text } = await repeatLost(cli, (key) => {
    const header = { 'Idempotency-Key': key, ...(inBackground && { Prefer: 'respond-async' }) };
    const sending = { bodySerializer: canonicalJson, fetch: service.slowFetch };
    return service.read(
      service.api.POST('/datasets/hub/import', {
        params: { header, ...ifExistsQuery(options) },
        body,
        ...sending,
      }),
    );
  });
  // The status tells them apart.
  const outcome = status === 202 ? { job: value as Job, text } : { dataset: value as DatasetSummary, text };
  return await storedDataset(cli, service, outcome);
}
