import type { StoreContext } from '../context.ts';
import { guarded } from '../database/errors.ts';
import { type Page, type PageRequest, Parameters, readOrderedPage } from '../database/page.ts';
import { isUuid, searchableText } from '../database/values.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import { type AuditAction, seesHandle } from './actor.ts';

/** A change that was made. */
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
export interface AuditStore {
  /** Newest first. @throws StoreError `invalid_cursor` */
  list(request: AuditConditions & PageRequest): Promise<Page<AuditEntry>>;
  /** All of them in batches, newest first. */
  read(conditions: AuditConditions, signal: AbortSignal): AsyncIterable<readonly AuditEntry[]>;
  /** Deletes what is older. @param days 0 keeps all @returns how many rows */
  purge(days: number): Promise<number>;
}

const BATCH = 10_000;
const COLUMNS = `id, created_at AS "createdAt", actor, role, request_id AS "requestId", action, kind, object_id AS "objectId",
  name, handle, version, details`;

export function createAuditStore({ pool }: Pick<StoreContext, 'pool'>): AuditStore {
  return {
    ...guarded({
      list: (request: AuditConditions & PageRequest) =>
        listAudit(createReadQuery(pool, request.signal), request),

      async purge(days: number) {
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
      },
    }),

    async *read(conditions, signal) {
      const query = createReadQuery(pool, signal);
      for (let cursor: string | undefined, isLast = false; !isLast; ) {
        const page = await listAudit(query, { ...conditions, limit: BATCH, cursor });
        yield page.data;
        isLast = page.nextCursor === null;
        cursor = page.nextCursor ?? undefined;
      }
    },
  };
}

async function listAudit(
  query: ReadQuery,
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
  const list = { from: 'audit', name: 'audit', filters, columns: COLUMNS, bytes };
  return await readOrderedPage<AuditEntry>(query, list, parameters, page);
}
