/** `@svc/store/postgres`: connections of others, which load nothing else of the store. */

export { connectionConfig, createClient } from './postgres/connection-config.ts';
export { isUnavailable } from './postgres/is-unavailable.ts';
