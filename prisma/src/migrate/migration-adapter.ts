import { PrismaPg } from '@prisma/adapter-pg';

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
      await connection.executeRaw({ sql: script, args: [], argTypes: [] });
    };
    return connection;
  }
}
