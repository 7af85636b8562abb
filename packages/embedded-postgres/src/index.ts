export { EmbeddedPostgresError } from './embedded-postgres-error.ts';
export { firstBarredFolder } from './process/postgres-account.ts';
export type { Account } from './process/spawn-as.ts';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';
