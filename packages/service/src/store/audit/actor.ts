import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import type { StoreContext } from '../context.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { asStoreErrors, guardedStream, StoreError } from '../database/errors.ts';
import { isUuid, readableJson, runNotFound, storableText } from '../database/values.ts';
import type { Pool } from '../postgres/pool.ts';

export const AUDIT_ACTIONS = [
  'dataset.create',
  'dataset.change',
  'dataset.update',
  'dataset.restore',
  'dataset.rename',
  'dataset.delete',
  'version.delete',
  'run.create',
  'run.finish',
  'run.cancel',
  'run.retry',
  'run.rescore',
  'run.update',
  'run.delete',
  'results.push',
  'scores.push',
  'label.set',
  'label.delete',
  'settings.update',
  'job.cancel',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

interface AuditObject {
  readonly kind: 'dataset' | 'run' | 'job' | 'settings';
  /** Null for the settings. */
  readonly id: string | null;
  /** Of a dataset, where it is not its newest version. */
  readonly version?: number;
}

/** What the object is called at this moment. A run has the handle of its dataset. */
const NAMED: Readonly<Record<AuditObject['kind'], string>> = {
  dataset: 'SELECT name, handle, version FROM datasets WHERE id = $7::text::uuid',
  run: `SELECT r.name, d.handle, r.dataset_version AS version FROM runs r JOIN datasets d ON d.id = r.dataset_id
    WHERE r.id = $7::text::uuid`,
  job: `SELECT asked ->> 'name' AS name, coalesce(d.handle, asked #>> '{target,handle}') AS handle, NULL::int AS version
    FROM (SELECT dataset_id, ${readableJson('request::json')} AS asked
      FROM jobs WHERE id = $7::text::uuid AND octet_length(request) <= 1048576) j
      LEFT JOIN datasets d ON d.id = coalesce(j.dataset_id::text, j.asked #>> '{target,dataset_id}')::uuid`,
  settings: `SELECT NULL AS name, NULL AS handle, NULL::int AS version WHERE $7::text IS NOT NULL`,
};

/**
 * Writes the row of a change in the transaction that makes it, while its object is there and has its old name.
 *
 * @param details counts, and names of what changed; never contents
 * @param rowId of a change that several transactions make: each writes the row anew
 */
export async function writeAudit(
  client: pg.ClientBase,
  action: AuditAction,
  { kind, id, version }: AuditObject,
  details: JsonObject = {},
  rowId: string = randomUUID(),
): Promise<void> {
  const { name, role, requestId } = currentActor();
  await client.query(
    `INSERT INTO audit (id, created_at, actor, role, request_id, action, kind, object_id, version, details, name, handle)
      SELECT $1, clock_timestamp(), $2, $3, $4, $5, $6, $7::text, coalesce($8::int, named.version), $9, left(named.name, 1000), named.handle
      FROM (VALUES (1)) AS one LEFT JOIN (${NAMED[kind]}) AS named ON true
      ON CONFLICT (id) DO UPDATE SET details = excluded.details`,
    [
      ...[rowId, name, role, requestId?.replaceAll('\0', '') ?? null],
      ...[action, kind, id, version ?? null, canonicalJson(details)],
    ],
  );
}

/**
 * Changes texts of a row, and writes which of them differed before.
 *
 * @param texts by column; undefined ones stay
 * @param actions the columns of each action
 * @param touched SQL for what is assigned besides
 * @returns false if there is no such row
 * @throws StoreError `invalid_request` for a text that PostgreSQL cannot hold
 */
export async function changeTexts(
  client: pg.ClientBase,
  { kind, id }: { readonly kind: 'dataset' | 'run'; readonly id: string },
  texts: Readonly<Record<string, string | null | undefined>>,
  actions: Partial<Readonly<Record<AuditAction, readonly string[]>>>,
  touched = 'id = id',
): Promise<boolean> {
  const names = Object.values(actions)
    .flat()
    .filter((name) => texts[name] !== undefined);
  const values = [id, ...names.map((name) => texts[name] && storableText(name, texts[name]))];
  const differ = names.map((name, index) => `${name} IS DISTINCT FROM $${index + 2}::text AS ${name}`);
  const { rows } = await client.query<Readonly<Record<string, boolean>>>(
    `SELECT ${['id', ...differ].join(', ')} FROM ${kind}s WHERE id = $1 FOR NO KEY UPDATE`,
    values,
  );
  const [differs] = rows;
  if (differs === undefined) return false;
  for (const [action, columns] of Object.entries(actions)) {
    const members = columns.filter((name) => differs[name]);
    if (members.length > 0) await writeAudit(client, action as AuditAction, { kind, id }, { members });
  }
  const assignments = names.map((name, index) => `${name} = $${index + 2}`);
  await client.query(`UPDATE ${kind}s SET ${[touched, ...assignments].join(', ')} WHERE id = $1`, values);
  return true;
}

/** Writes that a run has ended, with its counts. What only tries a configuration is no change. */
export async function auditEnd(client: pg.ClientBase, id: string): Promise<void> {
  const { rows } = await client.query<{ status: string; ok: number; failed: number; unscored: number }>(
    `SELECT status, ok::float8, failed::float8, unscored::float8 FROM runs WHERE id = $1 AND NOT is_trial`,
    [id],
  );
  const [run] = rows;
  if (run !== undefined) await writeAudit(client, 'run.finish', { kind: 'run', id }, { ...run });
}

export interface Actor {
  /** Name of the key; `anonymous` without one. */
  readonly name: string;
  /** Null if it is not known. */
  readonly role: string | null;
  readonly requestId: string | null;
  /** Beginnings of the handles of the datasets that the key sees; null for all datasets. */
  readonly handles: readonly string[] | null;
}

const NOBODY: Actor = { name: 'anonymous', role: null, requestId: null, handles: null };
const storage = new AsyncLocalStorage<Actor>();

/**
 * Calls `work` for an actor: everything that it starts changes what it changes in that name, and sees what the actor sees.
 * Outside of it the store works for nobody in particular, and shows everything.
 */
export const actAs = <T>(actor: Actor, work: () => T): T => storage.run(actor, work);

const currentActor = (): Actor => storage.getStore() ?? NOBODY;

/** The actor as a run or job keeps it for its worker. A run is checked when it is asked for, and does not look around. */
export function askedText(table: 'runs' | 'jobs'): string {
  const { name, role, requestId, handles } = currentActor();
  return JSON.stringify({ name, role, request_id: requestId, ...(table === 'jobs' && { handles }) });
}

/** The actor of such a text; nobody without one. */
export function readAsked(text: string | null): Actor {
  if (text === null) return NOBODY;
  const { name, role = null, request_id = null, handles = null } = JSON.parse(text);
  return { name, role, requestId: request_id, handles };
}

export const HANDLE_PREFIX: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

/** The beginnings as SQL writes them; null for all. A handle is the same in any case. */
function prefixes(): readonly string[] | null {
  const { handles } = currentActor();
  return (
    handles?.map((prefix) => {
      if (!HANDLE_PREFIX.test(prefix)) throw new TypeError('A beginning of handles is no such text.');
      return `'${prefix.toLowerCase()}'`;
    }) ?? null
  );
}

/** SQL for whether the actor sees what has a handle. Null if it sees all, so that statements stay as they are. */
export function seesHandle(handle: string): string | null {
  const all = prefixes();
  if (all === null) return null;
  const begins = all.map((prefix) => `starts_with(lower(${handle} COLLATE "C"), ${prefix})`);
  return `coalesce(${[...begins, 'false'].join(' OR ')}, false)`;
}

export function seesDataset(id: string): string | null {
  const condition = seesHandle('seen.handle');
  return condition && `${id} IN (SELECT seen.id FROM datasets seen WHERE ${condition})`;
}

/** The same for a row of `jobs`: by its dataset, else by the one that it is to change or make, else by who asked. */
export function seesJob(): string | null {
  const { name, handles } = currentActor();
  if (handles === null) return null;
  const asked = `(CASE WHEN octet_length(jobs.request) <= 67108864 THEN ${readableJson('jobs.request::json')} -> 'target' END)`;
  const quoted = (text: string): string => `convert_from('\\x${Buffer.from(text).toString('hex')}', 'UTF8')`;
  return `CASE WHEN jobs.dataset_id IS NOT NULL THEN ${seesDataset('jobs.dataset_id')}
    WHEN ${asked} ->> 'dataset_id' IS NOT NULL THEN ${seesDataset(`(${asked} ->> 'dataset_id')::uuid`)}
    WHEN ${asked} ->> 'handle' IS NOT NULL THEN ${seesHandle(`(${asked} ->> 'handle')`)}
    ELSE jobs.created_by = ${quoted(name)} AND (jobs.asked::jsonb -> 'handles') = ${quoted(JSON.stringify(handles))}::jsonb END`;
}

/** Checks that the actor may give a dataset this handle. @throws StoreError `invalid_request` */
export function checkOwnHandle(handle: string | null): void {
  const { handles } = currentActor();
  if (handles === null) return;
  const lower = handle?.toLowerCase();
  if (lower !== undefined && handles.some((prefix) => lower.startsWith(prefix.toLowerCase()))) return;
  const wanted = handles.map((prefix) => `"${prefix}"`).join(' or ');
  throw new StoreError(
    'invalid_request',
    `The handle must begin with ${wanted}: the key sees no other datasets.`,
    { path: 'handle' },
  );
}

type Ids = readonly (string | null | undefined)[];

/** Ids that a call names, and that its caller must see. */
interface Named {
  readonly datasets?: Ids;
  readonly runs?: Ids;
}

/** What the store does, by the names that callers use. */
type Operations<Result = Promise<unknown> | AsyncIterable<unknown>> = Readonly<
  Record<string, (context: StoreContext, ...args: never[]) => Result>
>;

type ArgsOf<T> = T extends (context: StoreContext, ...args: infer Args) => unknown ? Args : never;

type Methods<T extends Operations> = {
  readonly [Name in keyof T]: (...args: ArgsOf<T[Name]>) => ReturnType<T[Name]>;
};

type Call = (context: StoreContext, ...args: unknown[]) => unknown;

const methodsOf = <T extends Operations>(
  operations: T,
  method: (operation: Call, args: unknown[]) => unknown,
): Methods<T> =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      (...args: unknown[]) => method(operation as Call, args),
    ]),
  ) as unknown as Methods<T>;

/**
 * Operations on what callers name. What is no id, and what they may not see, is not found.
 *
 * @param named takes the ids from the arguments of a call
 */
export const checked = <T extends Operations<Promise<unknown>>>(
  context: StoreContext,
  named: (args: ArgsOf<T[keyof T]>) => Named,
  operations: T,
): Methods<T> =>
  methodsOf(operations, (operation, args) =>
    asStoreErrors(async () => {
      await check(context.pool, named(args as ArgsOf<T[keyof T]>));
      return await operation(context, ...args);
    }),
  );

/** Operations that name nothing, or restrict what they read, or that callers reach by way of a {@link checked} one only. */
export const unchecked = <T extends Operations>(context: StoreContext, operations: T): Methods<T> =>
  methodsOf(operations, (operation, args) => {
    const result = operation(context, ...args) as Promise<unknown> | AsyncIterable<unknown>;
    return Symbol.asyncIterator in result ? guardedStream(result) : asStoreErrors(() => result);
  });

/** @throws StoreError `dataset_not_found`, `run_not_found`, as for ids that do not exist */
async function check(pool: Pool, { datasets = [], runs = [] }: Named): Promise<void> {
  const condition = seesDataset('dataset_id');
  for (const [ids, table, notFound] of [
    [datasets, '(SELECT id, id AS dataset_id FROM datasets) AS named', datasetNotFound],
    [runs, 'runs', runNotFound],
  ] as const) {
    const named = ids.filter((id) => id != null);
    const invalid = named.find((id) => !isUuid(id));
    if (invalid !== undefined) throw notFound(invalid);
    if (condition === null || named.length === 0) continue;
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE id = ANY ($1::uuid[]) AND ${condition}`,
      [named],
    );
    const seen = new Set(rows.map(({ id }) => id));
    const hidden = named.find((id) => !seen.has(id.toLowerCase()));
    if (hidden !== undefined) throw notFound(hidden);
  }
}
