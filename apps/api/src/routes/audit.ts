import {
  invalidRequest,
  JsonText,
  ok,
  type Route,
  type RouteRequest,
  type Schema,
  shape,
} from '@svc/service';
import { AUDIT_COLUMNS, auditTable } from '@svc/service/flows';
import { AUDIT_ACTIONS, type AuditConditions, type AuditEntry } from '@svc/store';
import type { RouteDeps } from './deps.ts';
import { PAGE_QUERY, page, TEXT_OR_NULL, TIME, UUID } from './docs/schemas.ts';
import { listed, wanted } from './page.ts';
import { tableRoute } from './table.ts';

const MOMENT = 'a date, its beginning in UTC, or a time with its zone';

const FILTERS: Readonly<Record<string, Schema>> = {
  actor: { type: 'string', description: 'name of a key, or `anonymous`' },
  action: { type: 'string', enum: AUDIT_ACTIONS },
  object: {
    type: 'string',
    description: 'id of a dataset, run or job, or handle of a dataset, with its runs',
  },
  from: { type: 'string', description: `changes at this time or later: ${MOMENT}` },
  to: { type: 'string', description: `changes before this time: ${MOMENT}` },
};

const AUDIT_ENTRY: Schema = shape({
  id: UUID,
  at: TIME,
  actor: shape({
    name: { type: 'string' },
    role: { ...TEXT_OR_NULL, description: 'null where it is not known' },
  }),
  action: { type: 'string', enum: AUDIT_ACTIONS },
  object: shape(
    {
      kind: { type: 'string', enum: ['dataset', 'run', 'job', 'settings'] },
      id: TEXT_OR_NULL,
      name: { ...TEXT_OR_NULL, description: 'what it was called then' },
      handle: { type: 'string', description: 'of the dataset, at that time' },
      version: { type: 'integer', description: 'of the dataset' },
    },
    ['handle', 'version'],
  ),
  details: { type: 'object', additionalProperties: true, description: 'counts, and names of what changed' },
  request_id: TEXT_OR_NULL,
});

export function auditRoutes({ store: { audit } }: RouteDeps): readonly Route[] {
  const common = { method: 'get', tag: 'operation', access: 'admin' } as const;
  const tables = (['csv', 'jsonl'] as const).map((format): Route => {
    const table = tableRoute(format, {
      columns: AUDIT_COLUMNS,
      open: async (request) => {
        const conditions = wanted<AuditConditions>(request, momentsOf(request.query));
        return { read: () => audit.read(conditions, request.signal), async [Symbol.asyncDispose]() {} };
      },
      table: ({ read }, choice) => auditTable(read, { format, ...choice }),
    });
    return {
      ...{ ...common, ...table, path: `/audit.${format}` },
      operationId: format === 'csv' ? 'downloadAuditCsv' : 'downloadAuditJsonl',
      summary: 'Every change, newest first, one row each',
      query: { ...FILTERS, ...table.query },
    };
  });
  return [
    {
      ...common,
      path: '/audit',
      operationId: 'listAudit',
      summary:
        'Who changed what and when, newest first; of a key with `handles`, in the datasets that it sees',
      query: { ...PAGE_QUERY, ...FILTERS },
      responses: ok('a page', page(AUDIT_ENTRY)),
      handle: (request) =>
        listed(request, audit.list(wanted(request, momentsOf(request.query))), serializeEntry),
    },
    ...tables,
  ];
}

const momentsOf = (query: RouteRequest['query']): Pick<AuditConditions, 'from' | 'to'> => ({
  from: momentOf(query, 'from'),
  to: momentOf(query, 'to'),
});

const MOMENTS = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** @throws RequestError `invalid_request` */
function momentOf(query: RouteRequest['query'], name: 'from' | 'to'): Date | undefined {
  const text = query[name] as string | undefined;
  if (text === undefined) return undefined;
  const moment = new Date(text);
  if (MOMENTS.test(text) && !Number.isNaN(moment.getTime())) return moment;
  throw invalidRequest(name, `${name} must be ${MOMENT}, got ${JSON.stringify(text.slice(0, 50))}.`);
}

function serializeEntry(entry: AuditEntry) {
  const { id, createdAt, actor, role, action, kind, objectId, name, handle, version, details, requestId } =
    entry;
  return {
    ...{ id, at: createdAt, actor: { name: actor, role }, action },
    object: {
      kind,
      id: objectId,
      name,
      ...(handle !== null && { handle }),
      ...(version !== null && { version }),
    },
    ...{ details: new JsonText(details), request_id: requestId },
  };
}
