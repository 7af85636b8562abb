import { PrismaPg } from '@prisma/adapter-pg';

/** Records a migration in its own transaction: one that is not recorded was not applied. */
const RECORD =
  'UPDATE _prisma_migrations SET finished_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL';

/**
 * Runs each migration as one script, and so in one transaction. Prisma's own adapter splits scripts at every semicolon, also
 * in the body of a function, and runs the parts one by one.
 *
 * Does not take the engine's lock: it belongs to a session, which behind a pooler outlives the migration. `migrate` holds
 * the lock of a transaction.
 */
export class MigrationAdapter extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const connection = await super.connect();
    const { executeRaw } = connection;
    connection.executeRaw = async (query) =>
      /^SELECT pg_advisory_lock\(/i.test(query.sql) ? 0 : await executeRaw.call(connection, query);
    connection.executeScript = async (script) => {
      await connection.executeRaw({ sql: `${script}\n;${RECORD}`, args: [], argTypes: [] });
    };
    return connection;
  }
}
