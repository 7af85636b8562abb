/** `@svc/service/store/postgres`: connections of others, which load nothing else of the store. */

export { connectionConfig, createClient } from './postgres/client.ts';
export { isUnavailable } from './postgres/driver-errors.ts';
