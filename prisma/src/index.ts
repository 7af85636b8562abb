export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from './embedded-postgres.ts';
export { StoreError, type StoreErrorCode } from './errors.ts';
export { type MigrationOutcome, migrate } from './migrate.ts';
export { QUEUE_NAMES, QUEUE_OPTIONS, QUEUE_SCHEMA, type QueueName, type TaskData } from './queue.ts';
