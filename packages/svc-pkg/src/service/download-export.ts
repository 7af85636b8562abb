import type { Download } from '../package/download.ts';
import { attachmentName } from './attachment-name.ts';
import type { ServiceClient } from './client/service-client.ts';
import { findDataset } from './find-dataset.ts';

/**
 * Opens the export of a dataset of a service and of one of its runs.
 *
 * @param idOrName the id of the dataset, or a unique name
 * @throws as `findDataset`
 */
export async function downloadExport(
  service: ServiceClient,
  idOrName: string,
  runId: string | undefined,
): Promise<Download> {
  const datasetId = await findDataset(service, idOrName);
  const { headers, body } = await service.send({
    method: 'GET',
    path: `/datasets/${encodeURIComponent(datasetId)}/export`,
    query: { run_id: runId },
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
