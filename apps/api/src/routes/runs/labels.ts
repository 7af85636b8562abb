import { isLabelNote, isLabelType, MAX_NOTE_LENGTH, type Verdict } from '@svc/jsonl-v23/runs';
import {
  invalidMember,
  type JsonBody,
  json,
  jsonBody,
  ok,
  type Route,
  type RouteRequest,
} from '@svc/service';
import { LABEL_TABLE_COLUMNS, labelsTable } from '@svc/service/flows';
import { AGREEMENT_CELLS, type LabelConditions } from '@svc/service/store';
import type { RouteDeps } from '../deps.ts';
import { PAGE_QUERY } from '../docs/schemas.ts';
import { toPage, wanted } from '../page.ts';
import { tableRoute } from '../table.ts';
import { idOf, RUN_READ, resultNameOf } from './run-queries.ts';
import {
  AGREEMENT,
  JUDGED_RESULT,
  LABEL,
  LABELS,
  LABELS_QUERY,
  RESULT_LABEL,
  SCORER_QUERY,
  TYPES,
  VERDICT_OR_NULL,
} from './score-schemas.ts';

export function labelRoutes({ store: { runs } }: RouteDeps): readonly Route[] {
  const csv = tableRoute('csv', {
    columns: LABEL_TABLE_COLUMNS,
    open: ({ params, signal }) => runs.open(idOf(params), { signal }),
    table: (open, choice, { query }) =>
      labelsTable(open, { format: 'csv', ...choice, conditions: conditionsOf(query) }),
  });
  return [
    {
      ...RUN_READ,
      method: 'put',
      path: '/runs/{id}/results/{section}/{order_index}/{repetition}/label',
      operationId: 'labelResult',
      summary:
        'Label an output, in place of the earlier label of the caller. The label applies to every run with this output of the item',
      access: 'editor',
      body: jsonBody(
        {
          verdict: {
            ...VERDICT_OR_NULL,
            description: 'null for none; the label is deleted if note and types are absent too',
          },
          note: { type: ['string', 'null'], maxLength: MAX_NOTE_LENGTH },
          types: TYPES,
        },
        ['verdict'],
      ),
      responses: ok('the label', LABEL.schema),
      errors: ['not_found', 'nothing_to_label'],
      handle: async ({ params, body, caller }) => {
        const label = { by: caller.name, ...readBody(body) };
        const stored = await runs.setLabel(idOf(params), resultNameOf(params), label);
        const none = { ...label, created_at: null, updated_at: null, imported: false };
        return json(stored === null ? none : LABEL.toBody(stored));
      },
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/labels',
      operationId: 'listRunLabels',
      summary: 'The labels of the results of a run, in item order and by person',
      query: { ...PAGE_QUERY, ...LABELS_QUERY },
      responses: ok('a page, and a summary of all labels that pass the filters', LABELS),
      handle: async (request) => {
        const { params, query } = request;
        const found = await runs.listLabels(idOf(params), wanted(request));
        const { people, types, ...counts } = found.summary;
        const rows = { people: people.map((row) => ({ ...row })), types: types.map((row) => ({ ...row })) };
        return json({ summary: { ...counts, ...rows }, ...toPage(found, query, RESULT_LABEL.toBody) });
      },
    },
    {
      ...RUN_READ,
      ...csv,
      query: { ...csv.query, ...LABELS_QUERY },
      path: '/runs/{id}/labels.csv',
      operationId: 'downloadLabelsCsv',
      summary: 'The labels of the results of a run, one row each',
    },
    {
      ...RUN_READ,
      path: '/runs/{id}/agreement',
      operationId: 'getRunAgreement',
      summary:
        'Measure how a scorer agrees with people, or one person with another, and list where they disagree',
      query: {
        ...PAGE_QUERY,
        scorer: SCORER_QUERY,
        by: {
          type: 'string',
          description: 'person whose verdicts count; by default the newest verdict on each output',
        },
        other: {
          type: 'string',
          description: 'another person to compare with instead of a scorer; requires `by`',
        },
        cell: {
          type: 'string',
          enum: AGREEMENT_CELLS,
          description: 'list the results of this cell; by default the disagreements',
        },
      },
      responses: ok('the agreement, and a page of the disagreements in item order', AGREEMENT),
      handle: async (request) => {
        const { params, query } = request;
        const { scorer, by = null, other = null } = query as Readonly<Record<string, string | undefined>>;
        const found = await runs.compareLabels(idOf(params), wanted(request));
        const { n, cells, ...numbers } = found.agreement;
        return json({
          scorer: other === null ? (scorer ?? found.mainScorer) : null,
          ...{ by, other, n, cells: { ...cells } },
          ...Object.fromEntries(
            Object.entries(numbers).map(([name, value]): [string, JsonBody] => [
              name,
              value === null || typeof value === 'number' ? value : [...value],
            ]),
          ),
          ...toPage(found, query, JUDGED_RESULT.toBody),
        });
      },
    },
  ];
}

function readBody(body: RouteRequest['body']) {
  const { verdict, note, types } = body as unknown as {
    readonly verdict: Verdict | null;
    readonly note?: string | null;
    readonly types?: readonly string[];
  };
  const trimmed = (types ?? []).map((type) => type.trim());
  const invalid = trimmed.findIndex((type) => !isLabelType(type));
  if (invalid !== -1) {
    throw invalidMember('body', `/types/${invalid}`, 'must be 1 to 64 characters without control characters');
  }
  if (note != null && !isLabelNote(note))
    throw invalidMember('body', '/note', 'must hold neither NUL nor half of a surrogate pair');
  return { verdict, note: note === undefined || note === '' ? null : note, types: [...new Set(trimmed)] };
}

function conditionsOf(query: RouteRequest['query']): LabelConditions {
  return Object.fromEntries(Object.keys(LABELS_QUERY).map((name) => [name, query[name]])) as LabelConditions;
}
