import { parseJson } from '@svc/jsonl-v23/json';
import { CliError } from '../../errors/cli-error.ts';
import type { ServiceClient } from './service-client.ts';

/** A list of the service, as far as it was asked for. */
export interface Listing<T> {
  readonly data: readonly T[];
  /** Entries of the whole list; null if the service does not say. */
  readonly total: number | null;
}

interface Page<T> {
  readonly data?: readonly T[];
  readonly meta?: { readonly next_cursor?: string | null; readonly total_items?: number | null };
}

const MAX_PAGE = 100;

/**
 * Reads a list of the service, page by page, up to `limit` entries.
 *
 * @throws CliError `bad_response`; as `ServiceClient.send`
 */
export async function listPages<T>(
  service: ServiceClient,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  limit: number,
): Promise<Listing<T>> {
  const data: T[] = [];
  let cursor: string | undefined;
  for (;;) {
    const size = String(Math.min(MAX_PAGE, limit - data.length));
    const { text } = await service.sendForJson({
      method: 'GET',
      path,
      query: { ...query, limit: size, cursor },
    });
    // Keeps all digits of long numbers.
    const value = parseJson(text) as unknown as Page<T>;
    if (!Array.isArray(value.data))
      throw new CliError('bad_response', `${service.url}${path} returned no list`);
    data.push(...value.data);
    cursor = value.meta?.next_cursor ?? undefined;
    if (cursor === undefined || value.data.length === 0 || data.length >= limit) {
      return { data: data.slice(0, limit), total: value.meta?.total_items ?? null };
    }
  }
}
