export { EmbeddedPostgresError } from './embedded-postgres-error.ts';
export { type Account, firstBarredFolder } from './process/postgres-account.ts';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './start-embedded-postgres.ts';
