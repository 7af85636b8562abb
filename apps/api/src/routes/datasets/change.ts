import {
  invalidRequest,
  type JsonBody,
  type Route,
  type RouteRequest,
  type Schema,
  toJsonText,
} from '@svc/runtime';
import type { ChangedDataset, DatasetSummary, StoredResponse } from '@svc/store';
import { CHANGED_DATASET, SUMMARY } from '../docs/schemas.ts';

/** What the history says of a change. */
export const MESSAGE: Schema = {
  type: 'string',
  maxLength: 1000,
  format: 'storable-text',
  description: 'message of the change in the history',
};

export const MESSAGE_OR_NULL: Schema = { ...MESSAGE, type: ['string', 'null'] };

/** The header of a change that is for one version only. */
export const IF_MATCH: Schema = {
  type: 'string',
  description: '`version_hash` of the newest version, in quotes: the change fails if there is a newer one',
};

/** The query of a change that can be tried. */
export const DRY_RUN_QUERY: Schema = {
  type: 'boolean',
  default: false,
  description: 'compare without storing anything',
};

/** The headers of requests that change a dataset. */
export const CHANGE_HEADERS: Readonly<Record<string, Schema>> = {
  'If-Match': IF_MATCH,
  'X-Version-Message': {
    type: 'string',
    description: 'message of the change in the history, as percent-encoded UTF-8; instead of `message`',
  },
};

/** The responses to requests that change a dataset. */
export const CHANGE_RESPONSES: Route['responses'] = {
  200: {
    description: 'nothing changed: the newest version already has this content',
    schema: CHANGED_DATASET,
  },
  201: { description: 'the new version', schema: CHANGED_DATASET },
};

/** What the headers and the query of a request say of a change. */
export interface ChangeFacts {
  readonly message: string | null;
  readonly author: string | null;
  readonly ifMatch: string | undefined;
}

/**
 * Reads what a request says of a change.
 *
 * @param message of its body, which comes before those of the query and of the header
 * @throws RequestError `invalid_request`
 */
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

/** The response to a change: the summary of the newest version, new or not. */
export function datasetChanged(
  dataset: DatasetSummary,
  { isNew, change, version }: ChangedDataset,
): StoredResponse {
  return {
    status: isNew ? 201 : 200,
    headers: { Location: `/datasets/${dataset.id}?version=${version}` },
    body: toJsonText({ ...serializeSummary(dataset), change: { ...change } }),
  };
}

/** The response to a request that created a dataset. */
export function datasetCreated(dataset: DatasetSummary): StoredResponse {
  return {
    status: 201,
    headers: { Location: `/datasets/${dataset.id}` },
    body: toJsonText(serializeSummary(dataset)),
  };
}

/** Above this size, a summary omits the metadata of an uploaded package; the dataset itself has it. */
const MAX_SUMMARY_SCHEMA_BYTES = 64 * 1024;

const TRUNCATED_SCHEMAS = {
  pkg_zip: '{"source":"pkg_zip","package":null,"truncated":true}',
  file: '{"source":"file","files":null,"truncated":true}',
} as const;

/** A dataset without a large schema. */
export function serializeSummary(dataset: DatasetSummary): Record<string, JsonBody> {
  const { source, schema } = dataset;
  const isLarge = source !== 'hub' && Buffer.byteLength(schema) > MAX_SUMMARY_SCHEMA_BYTES;
  return SUMMARY.toBody(isLarge ? { ...dataset, schema: TRUNCATED_SCHEMAS[source] } : dataset);
}
