import { RESULT_FIELDS, RESULT_RANGES, VERDICTS } from '@svc/jsonl-v23/runs';
import { invalidMember, type RouteRequest, type Schema } from '@svc/service';
import { RESULTS_SORTS, type ResultName, type ResultsConditions } from '@svc/service/store';
import { PLACED_PAGE_QUERY, STATED_HASH } from '../docs/schemas.ts';
import { ITEM_VALUES, itemValues } from '../page.ts';

export const RUN_READ = {
  method: 'get',
  tag: 'runs',
  access: 'viewer',
} as const;

export const RUN_CHANGE = {
  method: 'post',
  tag: 'runs',
  access: 'editor',
} as const;

export const idOf = (params: RouteRequest['params']): string => params['id'] ?? '';

export function resultNameOf(params: RouteRequest['params']): ResultName {
  return {
    section: params['section'] ?? '',
    orderIndex: indexOf(params['order_index']),
    repetition: indexOf(params['repetition']),
  };
}

/** An index in a path; one that no result has where it is not a number. */
function indexOf(text: string | undefined): number {
  return /^\d{1,9}$/.test(text ?? '') ? Number(text) : -1;
}

const RANGES: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(RESULT_RANGES).flatMap(([name, { bounds }]) =>
    bounds.map((description, end) => [
      `${end === 0 ? 'min' : 'max'}_${name}`,
      { type: 'number', description },
    ]),
  ),
);

const RESULTS_FILTERS: Readonly<Record<string, Schema>> = {
  status: { type: 'string', enum: RESULT_FIELDS.status.values },
  passed: { type: 'boolean' },
  scorer: {
    type: 'string',
    description: 'scorer that `passed`, `min_score` and `max_score` refer to; by default the main one',
  },
  section: { type: 'string', description: 'results of this section' },
  type: { type: 'string', description: 'results of items of this type' },
  tag: { type: 'string', description: 'results of items with this tag' },
  finish_reason: { type: 'string', description: 'such as `stop` or `length`' },
  output: {
    type: 'string',
    enum: ['empty', 'unreadable'],
    description:
      '`empty`: without text; `unreadable`: with text in which the checker found no number, no choice or no JSON',
  },
  item_hash: { ...STATED_HASH, description: 'results of the item with this hash' },
  ...RANGES,
  got: {
    type: 'string',
    description: 'results whose output is this, or in which the checker read this; numbers as in JSON',
  },
  label: {
    type: 'string',
    enum: [...VERDICTS, 'none'],
    description: 'results whose output has this newest verdict, or `none` without one',
  },
  label_by: {
    type: 'string',
    description:
      'results that this person labelled; `label` and `label_type` then refer to these labels only',
  },
  label_type: { type: 'string', description: 'results with a label of this type' },
  error: {
    type: 'string',
    pattern: '^[0-9a-f]{16}$',
    'x-rule': 'must be the `group` of an error of the run',
    description: 'results with an error of this `group` of `/errors`',
  },
  ...ITEM_VALUES,
  q: {
    type: 'string',
    description:
      'part of the question, the answer, the output, the explanation or the error, case-insensitive',
  },
};

export const RESULTS_QUERY: Readonly<Record<string, Schema>> = {
  ...PLACED_PAGE_QUERY,
  ...RESULTS_FILTERS,
  sort: {
    type: 'string',
    pattern: `^-?(?:${RESULTS_SORTS.join('|')}|scorer:[A-Za-z0-9_.,-]{1,64}|meta[.](?:/(?:[^~/]|~[01])*)+)$`,
    maxLength: 1100,
    'x-rule': `must be ${RESULTS_SORTS.join(', ')}, scorer: and the name of a scorer, or meta. and a JSON Pointer such as /level, and may begin with -`,
    default: 'order',
    description: `${RESULTS_SORTS.map((name) => `\`${name}\``).join(', ')} \`scorer:<name>\` for the score of one scorer, or \`meta.<pointer>\` for the value of the items' \`meta\` at a JSON Pointer; ascending, or descending after \`-\`; results without the value come last`,
  },
  include: { type: 'string', enum: ['item'], description: 'include the item of each result' },
  sample: {
    type: 'string',
    enum: ['blind'],
    description:
      'a sample of the results with an output, in an order that depends on the seed only, and without their scores: each has `section`, `order_index`, `repetition`, `item_id`, `item_hash`, `output`, `reasoning`, `item` and the `labels` of the caller. Only filters of items and labels apply',
  },
  n: { type: 'integer', minimum: 1, maximum: 1_000, description: 'size of the sample; 100 by default' },
  seed: {
    type: 'integer',
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'seed of the sample; 0 by default. The same seed gives the same results',
  },
};

/** Filters that say nothing about how an output was scored. */
const BLIND: ReadonlySet<string> = new Set([
  ...['limit', 'cursor', 'section', 'type', 'tag', 'item_hash', 'meta', 'label', 'label_by', 'label_type'],
  ...['include', 'sample', 'n', 'seed', 'offset'],
]);

/** What chooses a blind sample; undefined if the query wants none. @throws RequestError `invalid_request` */
function sampleOf(query: RouteRequest['query']): ResultsConditions['sample'] {
  const { n, seed } = query;
  if (query['sample'] === undefined) {
    if (n === undefined && seed === undefined) return undefined;
    throw invalidMember('query', n === undefined ? 'seed' : 'n', 'is only for sample=blind');
  }
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || BLIND.has(name) || (name === 'sort' && value === 'order')) continue;
    throw invalidMember('query', name, 'cannot go with sample=blind: it would tell how outputs were scored');
  }
  return { n: (n as number | undefined) ?? 100, seed: (seed as number | undefined) ?? 0 };
}

const OF_RESULTS = Object.keys(RESULTS_FILTERS).filter((name) => !(name in ITEM_VALUES));

type Chosen = Omit<ResultsConditions, 'scorerNumber'> & { readonly scorer?: string | undefined };

export function resultsConditions(query: RouteRequest['query']): Chosen {
  const stated = Object.fromEntries(OF_RESULTS.map((name) => [name, query[name]])) as Chosen;
  return { ...stated, values: itemValues(query), sample: sampleOf(query) };
}
