import type pg from 'pg';

/** Held by the process that owns the server, on a separate connection: the kernel closes it when the process dies. */
const OWNER_LOCK = 5_267_718;

/** Makes this process the owner of the server, unless another process is. */
export async function tryOwnerLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ owned: boolean }>('SELECT pg_try_advisory_lock($1) AS owned', [
    OWNER_LOCK,
  ]);
  return rows[0]?.owned === true;
}

/** The id of the process that owns the server; null for an older version, which does not report it. */
export async function ownerPid(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND granted`,
    [OWNER_LOCK],
  );
  const pid = /^svc-owner-(\d+)$/.exec(rows[0]?.name ?? '')?.[1];
  return pid === undefined ? null : Number(pid);
}
