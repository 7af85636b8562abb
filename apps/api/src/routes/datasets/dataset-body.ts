import { type JsonBody, JsonText, toJsonText } from '@svc/runtime';
import type { DatasetSummary, SectionSummary, StoredResponse } from '@svc/store';

/** Beyond this size a summary leaves the blobs of an uploaded package out; the dataset itself has them. */
const MAX_SUMMARY_SCHEMA_BYTES = 64 * 1024;

const TRUNCATED_SCHEMA = new JsonText('{"source":"pkg_zip","package":null,"truncated":true}');

/** A section on the wire. */
export function sectionBody(section: SectionSummary): JsonBody {
  return {
    id: section.id,
    name: section.name,
    order_index: section.orderIndex,
    item_count: section.itemCount,
  };
}

/** A DatasetSummary on the wire (contract section 2). */
export function serializeSummary(dataset: DatasetSummary): JsonBody {
  const isLarge =
    dataset.source === 'pkg_zip' && Buffer.byteLength(dataset.schema) > MAX_SUMMARY_SCHEMA_BYTES;
  return body(dataset, isLarge ? TRUNCATED_SCHEMA : new JsonText(dataset.schema));
}

/** A Dataset on the wire: the summary with its whole schema. */
export function datasetBody(dataset: DatasetSummary): JsonBody {
  return body(dataset, new JsonText(dataset.schema));
}

/** The answer to a request that made a dataset. */
export function datasetCreated(dataset: DatasetSummary): StoredResponse {
  return {
    status: 201,
    headers: { Location: `/datasets/${dataset.id}` },
    body: toJsonText(serializeSummary(dataset)),
  };
}

function body(dataset: DatasetSummary, schema: JsonText): JsonBody {
  return {
    id: dataset.id,
    name: dataset.name,
    description: dataset.description,
    notes: dataset.notes,
    version_hash: dataset.versionHash,
    schema,
    section_count: dataset.sectionCount,
    item_count: dataset.itemCount,
    asset_count: dataset.assetCount,
    sections: dataset.sections.map(sectionBody),
    created_at: dataset.createdAt,
    updated_at: dataset.updatedAt,
  };
}
