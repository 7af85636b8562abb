import type pg from 'pg';
import { SERVICE } from './connection/connect.ts';

/** Attributes of the service's role. */
const ORDINARY = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';

/**
 * Creates or corrects the service's role, an ordinary one, and the database that it owns. Writes nothing if both are
 * as required.
 *
 * @param superuser connection to the maintenance database
 * @param password of the role; letters, digits, `-` and `_`
 * @param asSuperuser runs a function on a superuser's connection to the service's database
 */
export async function prepareDatabase(
  superuser: pg.Client,
  password: string,
  asSuperuser: (run: (client: pg.Client) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { rows } = await superuser.query<{ ordinary: boolean | null; owner: string | null }>(
    `SELECT
       (SELECT rolcanlogin AND NOT (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)
        FROM pg_roles WHERE rolname = $1) AS ordinary,
       (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = $1) AS owner`,
    [SERVICE],
  );
  const [found] = rows;
  if (found?.ordinary === null) {
    await superuser.query(`CREATE ROLE ${SERVICE} ${ORDINARY} PASSWORD '${password}'`);
  } else if (found?.ordinary === false) {
    await superuser.query(`ALTER ROLE ${SERVICE} ${ORDINARY}`);
  }
  if (found?.owner === null) await superuser.query(`CREATE DATABASE ${SERVICE} OWNER ${SERVICE}`);
  else if (found?.owner !== SERVICE) {
    await asSuperuser(async (client) => {
      await client.query(TRANSFER_OWNERSHIP);
    });
  }
}

export async function setPassword(superuser: pg.Client, password: string): Promise<void> {
  await superuser.query(`ALTER ROLE ${SERVICE} PASSWORD '${password}'`);
}

/**
 * Transfers the database that an older version created as the superuser, and everything in it, to the service's role. One
 * statement, and so one transaction. `REASSIGN OWNED` does not work for the bootstrap superuser.
 */
const TRANSFER_OWNERSHIP = `
DO $$
DECLARE statement text;
BEGIN
  FOR statement IN
    SELECT format('ALTER SCHEMA %I', nspname)
    FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'public')
    UNION ALL
    SELECT format('ALTER %s %s', CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW'
      WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'TABLE' END, oid::regclass)
    FROM pg_class AS c
    WHERE relnamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
      AND (relkind IN ('r', 'p', 'v', 'm') OR relkind = 'S' AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype IN ('a', 'i')))
    UNION ALL
    SELECT format('ALTER ROUTINE %s', oid::regprocedure)
    FROM pg_proc
    WHERE pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
    UNION ALL
    SELECT format('ALTER TYPE %s', oid::regtype)
    FROM pg_type AS t
    WHERE typnamespace IN (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema')
      AND (typtype IN ('e', 'd', 'r')
        OR typtype = 'c' AND EXISTS (SELECT FROM pg_class WHERE oid = t.typrelid AND relkind = 'c'))
  LOOP
    EXECUTE statement || ' OWNER TO ${SERVICE}';
  END LOOP;
  EXECUTE 'ALTER DATABASE ${SERVICE} OWNER TO ${SERVICE}';
END $$`;
