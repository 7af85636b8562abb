import { queryDatabase } from './query-database.ts';

/** A worker node of a Citus cluster, by its own address. */
export interface ClusterNode {
  readonly host: string;
  readonly port: number;
}

/** The worker nodes of the cluster whose coordinator has this database. */
export function clusterNodes(url: string): Promise<ClusterNode[]> {
  return queryDatabase(
    url,
    `SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' ORDER BY nodeport`,
  );
}

/** The URL of a database on a server of the cluster, as its superuser: tests of nodes need the role postgres. */
export function superuserUrl({ host, port }: ClusterNode, database: string): string {
  return `postgresql://postgres@${host}:${port}/${database}`;
}
