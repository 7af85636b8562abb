import { type JsonBody, JsonText, toJsonText } from '@svc/runtime';
import type { DatasetSummary, ListedDataset, SectionSummary, StoredResponse } from '@svc/store';

/** Above this size, a summary omits the metadata of an uploaded package; the dataset itself has it. */
const MAX_SUMMARY_SCHEMA_BYTES = 64 * 1024;

const TRUNCATED_SCHEMAS = {
  pkg_zip: new JsonText('{"source":"pkg_zip","package":null,"truncated":true}'),
  file: new JsonText('{"source":"file","files":null,"truncated":true}'),
} as const;

/** A section as JSON. */
export function serializeSection(section: SectionSummary): JsonBody {
  return {
    id: section.id,
    name: section.name,
    order_index: section.orderIndex,
    item_count: section.itemCount,
  };
}

/** A dataset in a list. */
export function serializeListed({ lastRun, ...dataset }: ListedDataset): JsonBody {
  return {
    ...serializeSummary(dataset),
    last_run:
      lastRun === null
        ? null
        : {
            id: lastRun.id,
            score: lastRun.score,
            pass_rate: lastRun.passRate,
            finished_at: lastRun.finishedAt.toISOString(),
          },
  };
}

/** A dataset without a large schema. */
export function serializeSummary(dataset: DatasetSummary): Record<string, JsonBody> {
  const isLarge = Buffer.byteLength(dataset.schema) > MAX_SUMMARY_SCHEMA_BYTES;
  const { source } = dataset;
  const schema = isLarge && source !== 'hub' ? TRUNCATED_SCHEMAS[source] : new JsonText(dataset.schema);
  return serialize(dataset, schema);
}

/** A dataset with its whole schema. */
export function serializeDataset(dataset: DatasetSummary): JsonBody {
  return serialize(dataset, new JsonText(dataset.schema));
}

/** The response to a request that created a dataset. */
export function datasetCreated(dataset: DatasetSummary): StoredResponse {
  return {
    status: 201,
    headers: { Location: `/datasets/${dataset.id}` },
    body: toJsonText(serializeSummary(dataset)),
  };
}

function serialize(dataset: DatasetSummary, schema: JsonText): Record<string, JsonBody> {
  return {
    id: dataset.id,
    name: dataset.name,
    description: dataset.description,
    notes: dataset.notes,
    handle: dataset.handle,
    version: dataset.version,
    version_count: dataset.versionCount,
    version_hash: dataset.versionHash,
    schema,
    section_count: dataset.sectionCount,
    item_count: dataset.itemCount,
    asset_count: dataset.assetCount,
    sections: dataset.sections.map(serializeSection),
    created_at: dataset.createdAt.toISOString(),
    updated_at: dataset.updatedAt.toISOString(),
  };
}
