import type { StoreContext } from '../context.ts';
import { type Page, type PageRequest, Parameters, readOrderedPage } from '../database/page.ts';
import { isUuid, searchableText } from '../database/values.ts';
import { createReadQuery } from '../postgres/read-query.ts';
import { type AuditAction, seesHandle, unchecked } from './actor.ts';

export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly actor: string;
  readonly role: string | null;
  readonly requestId: string | null;
  readonly action: AuditAction;
  readonly kind: string;
  readonly objectId: string | null;
  readonly name: string | null;
  readonly handle: string | null;
  readonly version: number | null;
  /** JSON text of an object. */
  readonly details: string;
}

export interface AuditConditions {
  /** Name of a key. */
  readonly actor?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Id of an object, or handle of a dataset, with its runs. */
  readonly object?: string | undefined;
  /** The first time that counts, and the first that no longer does. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Who changed what. Every change of the store writes a row in its own transaction, see `writeAudit`. */
export const createAuditStore = (context: StoreContext) => unchecked(context, { list, read, purge });

const BATCH = 10_000;
const COLUMNS = `id, created_at AS "createdAt", actor, role, request_id AS "requestId", action, kind, object_id AS "objectId",
  name, handle, version, details`;

/** Newest first. @throws StoreError `invalid_cursor` */
async function list(
  { pool }: StoreContext,
  { actor, action, object, from, to, ...page }: AuditConditions & PageRequest,
): Promise<Page<AuditEntry>> {
  const parameters = new Parameters();
  const { add } = parameters;
  const sees = seesHandle('audit.handle');
  const filters = sees === null ? [] : [sees];
  if (actor !== undefined) filters.push(`actor = ${add(searchableText(actor))}`);
  if (action !== undefined) filters.push(`action = ${add(action)}`);
  if (object !== undefined && isUuid(object)) filters.push(`object_id = ${add(object.toLowerCase())}`);
  else if (object !== undefined) filters.push(`lower(handle) = lower(${add(searchableText(object))})`);
  if (from !== undefined) filters.push(`created_at >= ${add(from)}`);
  if (to !== undefined) filters.push(`created_at < ${add(to)}`);
  const bytes =
    'octet_length(details) + coalesce(octet_length(name), 0) + coalesce(octet_length(request_id), 0)';
  const audit = { from: 'audit', name: 'audit', filters, columns: COLUMNS, bytes };
  return await readOrderedPage<AuditEntry>(createReadQuery(pool, page.signal), audit, parameters, page);
}

async function* read(context: StoreContext, conditions: AuditConditions, signal: AbortSignal) {
  for (let cursor: string | undefined, isLast = false; !isLast; ) {
    const page = await list(context, { ...conditions, limit: BATCH, cursor, signal });
    yield page.data;
    isLast = page.nextCursor === null;
    cursor = page.nextCursor ?? undefined;
  }
}

/** Deletes what is older. @param days 0 keeps all @returns how many rows */
async function purge({ pool }: StoreContext, days: number): Promise<number> {
  if (days === 0) return 0;
  let removed = 0;
  for (let found = BATCH; found === BATCH; removed += found) {
    const { rowCount } = await pool.query(
      `DELETE FROM audit WHERE id IN (
         SELECT id FROM audit WHERE created_at < clock_timestamp() - make_interval(days => $1) ORDER BY created_at LIMIT ${BATCH})`,
      [days],
    );
    found = rowCount ?? 0;
  }
  return removed;
}
