import { createClient, isUnavailable } from '@svc/store/postgres';
import pg from 'pg';
import { type Endpoint, urlOf } from './endpoint.ts';

export const SUPERUSER = 'postgres';
/** The service's role, and the database that it owns. */
export const SERVICE = 'svc';
/** Every server has this database; it contains the lock of the server's owner. */
export const MAINTENANCE_DATABASE = 'postgres';

export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Connects to an embedded server, by SCRAM on a port. The connection's name contains the id of this process. */
export async function connect(endpoint: Endpoint, login: Login): Promise<pg.Client> {
  const client = createClient(
    {
      url: urlOf(endpoint, login.user, login.password, login.database),
      applicationName: `svc-owner-${process.pid}`,
    },
    { connectionTimeoutMillis: 5_000 },
  );
  client.on('error', () => undefined); // the end of the server's process reports it
  try {
    await client.connect();
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

export function isWrongPassword(error: unknown): boolean {
  return (error as { code?: unknown }).code === '28P01';
}

/** Whether a server that stops or starts has refused a query or a connection, or has closed a connection. */
export function isStoppingOrStarting(error: unknown): boolean {
  const { cause = error } = error as Error;
  if (cause instanceof pg.DatabaseError) return cause.code === '57P01' || cause.code === '57P03';
  return error instanceof Error && isUnavailable(error);
}
