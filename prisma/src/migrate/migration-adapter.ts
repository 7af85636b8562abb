import { PrismaPg } from '@prisma/adapter-pg';

/**
 * Runs each migration as one script, and so in one transaction. Prisma's own adapter splits scripts at every semicolon, also
 * in the body of a function, and runs the parts one by one.
 */
export class MigrationAdapter extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const connection = await super.connect();
    connection.executeScript = async (script) => {
      await connection.executeRaw({ sql: script, args: [], argTypes: [] });
    };
    return connection;
  }
}
