import { clusterNodes, superuserUrl } from './cluster-nodes.ts';
import { queryDatabase } from './query-database.ts';

/**
 * Makes each node of a cluster refuse to commit a change of this distributed table until it is disposed of: the last moment
 * at which a node can be lost.
 */
export async function refuseCommits(url: string, table: string): Promise<AsyncDisposable> {
  await using cleanUp = new AsyncDisposableStack();
  const database = new URL(url).pathname.slice(1);
  for (const node of await clusterNodes(url)) {
    const shards: { readonly name: string }[] = await queryDatabase(
      url,
      'SELECT shard_name AS name FROM citus_shards WHERE table_name = $1::text::regclass AND nodeport = $2',
      [table, node.port],
    );
    const own = superuserUrl(node, database);
    const triggers = shards.map(
      ({ name }) => `CREATE CONSTRAINT TRIGGER refuse_commits AFTER INSERT OR UPDATE OR DELETE ON ${name}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_commits();`,
    );
    await queryDatabase(
      own,
      `SET citus.enable_ddl_propagation = off;
       CREATE FUNCTION refuse_commits() RETURNS trigger LANGUAGE plpgsql AS $function$
       BEGIN RAISE EXCEPTION 'this node is lost' USING ERRCODE = '57P01'; END $function$;
       ${triggers.join('\n')}`,
    );
    cleanUp.defer(async () => {
      await queryDatabase(
        own,
        'SET citus.enable_ddl_propagation = off; DROP FUNCTION refuse_commits() CASCADE',
      );
    });
  }
  const made = cleanUp.move();
  return { [Symbol.asyncDispose]: () => made.disposeAsync() };
}
