import { isLabelNote, isLabelType, MAX_NOTE_LENGTH, type Verdict } from '@svc/jsonl-v23/internal';
import { invalidMember, type JsonBody, json, jsonBody, type Route, type RouteRequest } from '@svc/service';
import { LABEL_TABLE_COLUMNS, labelsTable } from '@svc/service/flows';
import { AGREEMENT_CELLS, type AgreementCell, type LabelConditions } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { PAGE_QUERY } from '../docs/schemas.ts';
import { pageOf, toPage } from '../page.ts';
import { tableRoute } from '../table.ts';

import { idOf, RUN_READ, resultNameOf } from './path-params.ts';
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

/** The endpoints of labels: set one, list the labels of a run, compare them with a scorer. */
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
      responses: { 200: { description: 'the label', schema: LABEL.schema } },
      errors: ['run_not_found', 'not_found', 'nothing_to_label', 'unavailable'],
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
      responses: {
        200: { description: 'a page, and a summary of all labels that pass the filters', schema: LABELS },
      },
      errors: ['run_not_found', 'invalid_cursor', 'unavailable'],
      handle: async ({ params, query, signal }) => {
        const found = await runs.listLabels(idOf(params), {
          ...pageOf(query),
          ...conditionsOf(query),
          signal,
        });
        const { people, types, ...counts } = found.summary;
        const summary = {
          ...counts,
          people: people.map((row) => ({ ...row })),
          types: types.map((row) => ({ ...row })),
        };
        return json({
          summary,
          ...toPage(found, query, RESULT_LABEL.toBody),
        });
      },
    },
    {
      ...RUN_READ,
      ...csv,
      query: { ...csv.query, ...LABELS_QUERY },
      path: '/runs/{id}/labels.csv',
      operationId: 'downloadLabelsCsv',
      summary: 'The labels of the results of a run, one row each',
      errors: ['run_not_found', 'unavailable'],
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
      responses: {
        200: {
          description: 'the agreement, and a page of the disagreements in item order',
          schema: AGREEMENT,
        },
      },
      errors: ['run_not_found', 'scorer_not_found', 'invalid_cursor', 'unavailable'],
      handle: async ({ params, query, signal }) => {
        const text = (name: string): string | undefined => query[name] as string | undefined;
        const [scorer, by, other] = [text('scorer'), text('by'), text('other')];
        const found = await runs.compareLabels(idOf(params), {
          ...pageOf(query),
          ...{ scorer, by, other, signal },
          cell: query['cell'] as AgreementCell | undefined,
        });
        const { n, cells, ...numbers } = found.agreement;
        return json({
          scorer: other === undefined ? (scorer ?? found.mainScorer) : null,
          ...{ by: by ?? null, other: other ?? null, n, cells: { ...cells } },
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

/** @throws RequestError `invalid_request` */
function readBody(body: RouteRequest['body']): {
  readonly verdict: Verdict | null;
  readonly note: string | null;
  readonly types: string[];
} {
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
  const text = (name: string): string | undefined => query[name] as string | undefined;
  return {
    verdict: query['verdict'] as Verdict | undefined,
    ...{ by: text('by'), type: text('type'), section: text('section') },
  };
}
