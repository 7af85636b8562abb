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
import { prepareDatabase, setPassword } from '../prepare-database.ts';
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
      await setPassword(superuser, plan.servicePassword);
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
