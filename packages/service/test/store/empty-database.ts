import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { type ClusterNode, clusterNodes, superuserUrl } from './cluster-nodes.ts';
import type {} from './postgres.ts';
import { queryDatabase } from './query-database.ts';

export interface EmptyDatabase extends AsyncDisposable {
  readonly url: string;
}

/**
 * An empty database on the server of the test run. On a Citus cluster, it is on all nodes, with the extension, and belongs to
 * the role of the tests.
 *
 * @param clauses of CREATE DATABASE, beside its name and template
 */
export async function createEmptyDatabase(clauses = "ENCODING 'UTF8'"): Promise<EmptyDatabase> {
  const server = new URL(inject('postgresUrl'));
  const name = `svc_empty_${randomBytes(6).toString('hex')}`;
  const created = `CREATE DATABASE ${name} TEMPLATE template0 ${clauses}`;
  const dropped = `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`;
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  if (inject('templateDatabase') !== null) {
    await queryDatabase(server.href, created);
    return { url, [Symbol.asyncDispose]: async () => void (await queryDatabase(server.href, dropped)) };
  }
  await using cleanUp = new AsyncDisposableStack();
  const coordinator: ClusterNode = { host: server.hostname, port: Number(server.port) };
  const nodes = await clusterNodes(server.href);
  for (const node of [coordinator, ...nodes]) {
    // Where Citus is, it ends its own sessions of a database before that is dropped.
    const home = superuserUrl(node, server.pathname.slice(1));
    await queryDatabase(home, `${created} OWNER "${server.username}"`);
    cleanUp.defer(async () => void (await queryDatabase(home, dropped)));
    await queryDatabase(superuserUrl(node, name), 'CREATE EXTENSION citus');
  }
  const own = superuserUrl(coordinator, name);
  await queryDatabase(own, 'SELECT citus_set_coordinator_host($1, $2)', [coordinator.host, coordinator.port]);
  for (const { host, port } of nodes) await queryDatabase(own, 'SELECT citus_add_node($1, $2)', [host, port]);
  const made = cleanUp.move();
  return { url, [Symbol.asyncDispose]: () => made.disposeAsync() };
}
