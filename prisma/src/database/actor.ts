import { AsyncLocalStorage } from 'node:async_hooks';
import { StoreError } from './errors.ts';

/** For whom the store works. */
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

export const currentActor = (): Actor => storage.getStore() ?? NOBODY;

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

/** The beginning of a handle. */
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

/** The same for the id of a dataset. */
export function seesDataset(id: string): string | null {
  const condition = seesHandle('seen.handle');
  return condition && `${id} IN (SELECT seen.id FROM datasets seen WHERE ${condition})`;
}

/** The same for a row of `jobs`: by its dataset, else by the one that it is to change or make, else by who asked. */
export function seesJob(): string | null {
  const { name, handles } = currentActor();
  if (handles === null) return null;
  const asked = `(CASE WHEN octet_length(jobs.request) <= 67108864 THEN jobs.request::json -> 'target' END)`;
  const quoted = (text: string): string => `convert_from('\\x${Buffer.from(text).toString('hex')}', 'UTF8')`;
  return `CASE WHEN jobs.dataset_id IS NOT NULL THEN ${seesDataset('jobs.dataset_id')}
    WHEN ${asked} ->> 'dataset_id' IS NOT NULL THEN ${seesDataset(`(${asked} ->> 'dataset_id')::uuid`)}
    WHEN ${asked} ->> 'handle' IS NOT NULL THEN ${seesHandle(`(${asked} ->> 'handle')`)}
    ELSE jobs.created_by = ${quoted(name)} AND (jobs.asked::jsonb -> 'handles') = ${quoted(JSON.stringify(handles))}::jsonb END`;
}

/**
 * Checks that the actor may give a dataset this handle.
 *
 * @param handle null for a dataset without one
 * @throws StoreError `invalid_request`
 */
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
