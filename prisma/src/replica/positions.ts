import type pg from 'pg';

/**
 * A position of the log that every commit before it is below. A commit that the server has confirmed is flushed, unless
 * the server confirms earlier than that.
 */
const COMMITTED = `SELECT pg_wal_lsn_diff(CASE current_setting('synchronous_commit')
    WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END, '0/0')::text AS position`;

const REPLAYED = `SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text AS position`;

/** Two servers with the same value hold copies of one database. */
const IDENTITY = `SELECT system_identifier || '/' ||
    (SELECT oid FROM pg_database WHERE datname = current_database()) AS identity, pg_is_in_recovery() AS "isReplica"
  FROM pg_control_system()`;

interface PositionRow {
  readonly position: string | null;
}

/** The position, in bytes of the log, that a replica must have replayed to show everything that is committed now. */
export async function committedPosition(primary: pg.Pool): Promise<bigint> {
  const { rows } = await primary.query<PositionRow>(COMMITTED);
  return BigInt(rows[0]?.position ?? 0);
}

/** The position up to which a replica shows what was committed. */
export async function replayedPosition(replica: pg.Pool): Promise<bigint> {
  const { rows } = await replica.query<PositionRow>(REPLAYED);
  return BigInt(rows[0]?.position ?? 0);
}

/** Whether a server is a replica of the database of another one. */
export async function isReplicaOf(replica: pg.Pool, primary: pg.Pool): Promise<boolean> {
  const [own, other] = await Promise.all([readIdentity(replica), readIdentity(primary)]);
  return own.isReplica && own.identity === other.identity;
}

interface Identity {
  readonly identity: string;
  readonly isReplica: boolean;
}

async function readIdentity(pool: pg.Pool): Promise<Identity> {
  const { rows } = await pool.query<Identity>(IDENTITY);
  return rows[0] ?? { identity: '', isReplica: false };
}
