import { isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { HubError } from '../errors.ts';
import type { Requester } from '../http/requester.ts';
import { validateDatasetPath } from '../repository/validate-path.ts';

/** A dataset that a search found. */
export interface FoundDataset {
  /** `owner/name`, or a legacy name. */
  readonly id: string;
  /** Downloads of the last month; null if the hub does not say. */
  readonly downloads: number | null;
  readonly likes: number | null;
  /** Whether its files need a granted request. */
  readonly isGated: boolean;
}

export const MAX_FOUND = 50;

/** An entry has its tags and a description. */
const MAX_ENTRY_LENGTH = 256 * 1024;
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const MAX_QUERY_LENGTH = 200;

/** @throws HubError `invalid_request` for an empty or longer query; those of requests; the signal's reason */
export async function findDatasets(
  requester: Requester,
  query: string,
  limit: number,
): Promise<readonly FoundDataset[]> {
  const search = query.trim();
  if (search === '' || search.length > MAX_QUERY_LENGTH)
    throw new HubError(
      'invalid_request',
      `The query must have 1 to ${MAX_QUERY_LENGTH} characters, got ${search.length}.`,
    );
  const url = requester.urlOf('/api/datasets');
  for (const [name, value] of Object.entries({ search, limit, sort: 'downloads', direction: -1 }))
    url.searchParams.set(name, String(value));
  const limits = { maxBytes: MAX_PAGE_BYTES, maxValueLength: MAX_ENTRY_LENGTH };
  return await requester.readJson({ kind: 'info', url }, limits, async (json) => {
    const found: FoundDataset[] = [];
    for await (const _ of json.items()) {
      const entry = await json.value();
      if (found.length < limit && isJsonObject(entry)) found.push(...foundIn(entry));
    }
    return found;
  });
}

/** What an entry of the list says; nothing for a name that a dataset cannot have. */
function foundIn(entry: JsonObject): readonly FoundDataset[] {
  const count = (value: unknown): number | null =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
  try {
    return [
      {
        id: validateDatasetPath(entry['id']),
        downloads: count(entry['downloads']),
        likes: count(entry['likes']),
        isGated: entry['gated'] !== undefined && entry['gated'] !== false,
      },
    ];
  } catch (error) {
    if (error instanceof HubError) return [];
    throw error;
  }
}
