import type { Download } from '../package/download.ts';
import { attachmentName } from './attachment-name.ts';
import type { ServiceClient } from './client/service-client.ts';
import { findVersion } from './find-dataset.ts';

/**
 * Opens the export of a version of a dataset of a service and of one of its runs.
 *
 * @param dataset id, handle or unique name of the dataset, perhaps with `@version`
 * @throws as `findVersion`
 */
export async function downloadExport(
  service: ServiceClient,
  dataset: string,
  { runId, allowIncomplete }: { readonly runId: string | undefined; readonly allowIncomplete: boolean },
): Promise<Download> {
  const { id: datasetId, version } = await findVersion(service, dataset);
  const { headers, body } = await service.send({
    method: 'GET',
    path: `/datasets/${encodeURIComponent(datasetId)}/export`,
    query: { run_id: runId, version, allow_incomplete: allowIncomplete ? 'true' : undefined },
    headers: { accept: 'application/zip, application/json;q=0.5' },
  });
  const byteLength = Number(headers['content-length'] ?? Number.NaN);
  const iterator = body[Symbol.asyncIterator]();
  return {
    datasetId,
    fileName: attachmentName([headers['content-disposition']].flat()[0]),
    byteLength: Number.isFinite(byteLength) ? byteLength : null,
    body: { [Symbol.asyncIterator]: () => iterator },
    async [Symbol.asyncDispose]() {
      await iterator.return?.();
    },
  };
}
