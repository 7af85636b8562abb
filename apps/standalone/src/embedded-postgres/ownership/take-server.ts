import type pg from 'pg';
import {
  connect,
  isStoppingOrStarting,
  isWrongPassword,
  MAINTENANCE_DATABASE,
  SERVICE,
  SUPERUSER,
} from '../connection/connect.ts';
import type { Endpoint } from '../connection/endpoint.ts';
import { EmbeddedPostgresError } from '../embedded-postgres-error.ts';
import type { ServerPlan } from '../server-plan.ts';
import { tryOwnerLock } from './owner-lock.ts';
import { wrongPassword } from './stop-orphan.ts';

/**
 * Takes ownership of the server: prepares the database as the superuser, then holds the owner's lock as the ordinary role.
 *
 * @returns null when another process claims it, and perhaps stops it by now
 */
export async function takeServer(plan: ServerPlan, endpoint: Endpoint): Promise<pg.Client | null> {
  return await claim(plan, endpoint).catch((error: unknown) => {
    if (isStoppingOrStarting(error)) return null;
    throw error;
  });
}

async function claim(plan: ServerPlan, endpoint: Endpoint): Promise<pg.Client | null> {
  const login = { user: SUPERUSER, password: plan.superuserPassword, database: MAINTENANCE_DATABASE };
  const superuser = await connect(endpoint, login).catch((cause: unknown) => {
    throw isWrongPassword(cause) ? wrongPassword(plan.layout, cause) : cause;
  });
  const asService = (): Promise<pg.Client> =>
    connect(endpoint, { ...login, user: SERVICE, password: plan.servicePassword });
  let owner: pg.Client;
  try {
    if (!(await tryOwnerLock(superuser))) return null;
    await prepareDatabase(superuser, plan.servicePassword);
    owner = await asService().catch(async (cause: unknown) => {
      if (!isWrongPassword(cause)) throw cause;
      await superuser.query(`ALTER ROLE ${SERVICE} PASSWORD '${plan.servicePassword}'`);
      return await asService();
    });
  } finally {
    await superuser.end().catch(() => undefined);
  }
  // Another process may have claimed the server since; that process then stops it.
  if (await tryOwnerLock(owner)) return owner;
  await owner.end().catch(() => undefined);
  return null;
}

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
async function prepareDatabase(superuser: pg.Client, password: string): Promise<void> {
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
