import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';

/** Ends every lease now: tests of what follows the death of a worker need not wait until others notice it. */
export async function expireLeases(databaseUrl: string): Promise<void> {
  for (const table of ['runs', 'jobs']) {
    await queryDatabase(
      databaseUrl,
      `UPDATE ${table} SET lease_expires_at = now() - interval '1 second'
       WHERE finished_at IS NULL AND lease_expires_at IS NOT NULL`,
    );
  }
}
