import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type {} from '../../prisma/test/postgres.ts';
import { queryDatabase } from '../../prisma/test/query-database.ts';

/** An empty database on the embedded server of the test run. */
export async function createEmbeddedDatabase(): Promise<AsyncDisposable & { readonly url: string }> {
  const name = `svc_deployed_${randomBytes(6).toString('hex')}`;
  const server = inject('postgresUrl');
  await queryDatabase(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () =>
      void (await queryDatabase(server, `DROP DATABASE ${name} WITH (FORCE)`)),
  };
}
