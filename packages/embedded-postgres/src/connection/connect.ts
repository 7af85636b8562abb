import { createClient } from '@svc/postgres-client';
import pg from 'pg';
import { type Endpoint, urlOf } from './endpoint.ts';

export const SUPERUSER = 'postgres';
/** The role that the service works as, and the database that it owns. */
export const SERVICE = 'svc';
/** Every server has it; the lock of its owner is held there. */
export const MAINTENANCE_DATABASE = 'postgres';

export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Connects to an embedded server, by SCRAM on a port. The name of the connection tells others which process it is. */
export async function connect(endpoint: Endpoint, login: Login): Promise<pg.Client> {
  const client = createClient(
    {
      url: urlOf(endpoint, login.user, login.password, login.database),
      applicationName: `svc-owner-${process.pid}`,
    },
    { connectionTimeoutMillis: 5_000 },
  );
  client.on('error', () => undefined); // its end is seen by the process's own
  try {
    await client.connect();
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

export function isWrongPassword(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '28P01';
}
