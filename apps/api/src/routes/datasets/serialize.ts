import { type JsonBody, toJsonText } from '@svc/runtime';
import type { DatasetSummary, ListedDataset, StoredResponse } from '@svc/store';
import { LAST_RUN, SUMMARY } from '../docs/schemas.ts';

/** Above this size, a summary omits the metadata of an uploaded package; the dataset itself has it. */
const MAX_SUMMARY_SCHEMA_BYTES = 64 * 1024;

const TRUNCATED_SCHEMAS = {
  pkg_zip: '{"source":"pkg_zip","package":null,"truncated":true}',
  file: '{"source":"file","files":null,"truncated":true}',
} as const;

/** A dataset in a list. */
export function serializeListed({ lastRun, ...dataset }: ListedDataset): JsonBody {
  return { ...serializeSummary(dataset), last_run: lastRun === null ? null : LAST_RUN.toBody(lastRun) };
}

/** A dataset without a large schema. */
export function serializeSummary(dataset: DatasetSummary): Record<string, JsonBody> {
  const { source, schema } = dataset;
  const isLarge = source !== 'hub' && Buffer.byteLength(schema) > MAX_SUMMARY_SCHEMA_BYTES;
  return SUMMARY.toBody(isLarge ? { ...dataset, schema: TRUNCATED_SCHEMAS[source] } : dataset);
}

/** The response to a request that created a dataset. */
export function datasetCreated(dataset: DatasetSummary): StoredResponse {
  return {
    status: 201,
    headers: { Location: `/datasets/${dataset.id}` },
    body: toJsonText(serializeSummary(dataset)),
  };
}
