import type { DatabasePort } from './database-port.ts';

/** The database behind the port; the store is loaded when a command needs it, which few do. */
export function createDatabase(): DatabasePort {
  return {
    async migrate(url) {
      const { migrate } = await import('@svc/store');
      return migrate(url);
    },
    async openExport() {
      throw new Error('not yet');
    },
  };
}
