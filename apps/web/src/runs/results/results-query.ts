import type { Paths } from '@svc/client';
import { metaQuery } from '../../ui/search-params.ts';
import type { RunSearch } from '../runs-search.ts';
import { metaPointerOf, SORTED_COLUMNS, scorerKey } from './column-keys.ts';

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

/** The order of the API for that of a column; undefined for the order of the items. */
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
