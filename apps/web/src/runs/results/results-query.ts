import type { Paths } from '@svc/client';
import { pointerOf } from '../../ui/pointer-of.ts';
import { metaQuery } from '../../ui/search-params.ts';
import type { RunSearch } from '../runs-search.ts';

type ResultsQuery = NonNullable<Paths['/runs/{id}/results']['get']['parameters']['query']>;

/** What an address chooses of the results, as the API takes it: filters and their order. */
export function resultsQuery(search: RunSearch): ResultsQuery {
  const { status, passed, scorer, min_score, max_score, finish_reason, output, error, q } = search;
  const { min_latency, max_latency, min_output_tokens, max_output_tokens, min_cost, max_cost } = search;
  const { got, expected } = search;
  const { section, type, tag, label, label_by, label_type, sample, n, seed } = search;
  const ofItems = { section, type, tag, label, label_by, label_type, ...metaQuery(search) };
  // other filters and orders would tell how outputs were scored
  if (sample !== undefined) return { ...ofItems, sample, n, seed };
  return {
    ...ofItems,
    ...{ status, passed, scorer, min_score, max_score, finish_reason, output, error, q },
    ...{ min_latency, max_latency, min_output_tokens, max_output_tokens, min_cost, max_cost, got, expected },
    sort: sortOf(search.sort),
  };
}

/** The order of the API for a column's order; undefined for the order of the items. */
function sortOf(sort: string | undefined): ResultsQuery['sort'] {
  const column = sort?.replace(/^-/, '') ?? '';
  const scorer = scorerKey.exec(column)?.[1];
  const pointer = metaPointerOf(column);
  const order =
    pointer !== undefined
      ? `meta.${pointer}`
      : scorer === undefined
        ? SORTED_COLUMNS[column]
        : `scorer:${scorer}`;
  return order === undefined
    ? undefined
    : (`${sort?.startsWith('-') === true ? '-' : ''}${order}` as ResultsQuery['sort']);
}

/** The key of the column of a scorer. */
export const scorerKey: RegExp = /^scorer\.(.+)$/;

/** The key of the column of a member of the metadata, by its JSON Pointer: an address joins keys by commas. */
export const metaKey = (pointer: string): string => `meta.${pointer.replaceAll(/[%,]/g, encodeURIComponent)}`;

/** The pointer into the metadata whose column has a key, in older addresses a name; undefined for other columns. */
export function metaPointerOf(key: string): string | undefined {
  if (!key.startsWith('meta.')) return undefined;
  const stated = key.slice('meta.'.length).replaceAll('%2C', ',').replaceAll('%25', '%');
  return stated.startsWith('/') ? stated : pointerOf(stated);
}

/** Columns that the service can sort by, with its names for them. */
export const SORTED_COLUMNS: Readonly<Record<string, string>> = {
  id: 'order',
  question: 'question',
  expected: 'expected',
  got: 'got',
  score: 'score',
  latency: 'latency',
  tokens: 'output_tokens',
  cost: 'cost',
  tags: 'tags',
  type: 'type',
  label: 'label',
};
