import type pg from 'pg';
import { SERVICE } from './connection/connect.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';

/** Attributes of the service's role. */
const ORDINARY = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';

/**
 * Creates or corrects the service's role, an ordinary one, and the database that it owns. Writes nothing if both are
 * as required.
 *
 * @param superuser connection to the maintenance database
 * @param password of the role; letters, digits, `-` and `_`
 * @throws EmbeddedPostgresError another role owns the database: a version before the first release made it
 */
export async function prepareDatabase(superuser: pg.Client, password: string): Promise<void> {
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
    throw new EmbeddedPostgresError(
      'Cannot use the database: a version before 0.1.0 made it. Export its datasets with that version, and import them ' +
        'with this one into an empty data folder.',
    );
  }
}

export async function setPassword(superuser: pg.Client, password: string): Promise<void> {
  await superuser.query(`ALTER ROLE ${SERVICE} PASSWORD '${password}'`);
}
