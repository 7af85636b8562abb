export { cancelQuery } from './cancel-query.ts';
export { ConnectError, type ConnectReason, isRefused } from './connect-error.ts';
export { type ConnectionOptions, connectionConfig, createClient } from './connection-config.ts';
export { hasCommitted, transactionIdOf } from './has-committed.ts';
export { HAS_ENDED } from './has-ended.ts';
export { isUnavailable } from './is-unavailable.ts';
export { type Listener, type ListenOptions, listen } from './listen.ts';
export { destroySocket, processIdOf, socketOf } from './pg-internals.ts';
export { createPool, inTransaction, type Pool, prepared, sendTogether, Transaction } from './pool.ts';
export {
  type CopyQuery,
  createReadQuery,
  createReads,
  queryOf,
  type ReadQuery,
  type Reads,
  readFrom,
} from './read-query.ts';
