import { ConnectError } from './connect-error.ts';

/**
 * SQLSTATE classes and codes that mean: the server is stopping, starting, or out of resources or time; or there was a
 * conflict.
 */
const UNAVAILABLE_STATES = /^(?:08|53|57014|57P0[1-5]|25006|40001|40P01|55P03)/;
const UNAVAILABLE_SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
]);
/** Errors of `connect`: the Unix socket is missing, not accessible, or has a full queue. Elsewhere they mean a file. */
const UNAVAILABLE_SOCKET_CODES = new Set(['ENOENT', 'EACCES', 'EAGAIN']);
/** Errors of `pg` that carry no code. */
const UNAVAILABLE_MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Cannot use a pool after calling end)/;

/** Errors of Citus, of codes that say nothing, that mean: a node cannot be reached, or was lost. It passes on what nodes say. */
const UNAVAILABLE_NODES =
  /^(?:failure on connection marked as essential|failed to COPY to shard|connection to the remote node|terminating connection|server closed the connection|the database system is)/;

/** Members of errors of Node.js, `pg` and the server. */
interface DriverError {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly message?: unknown;
}

/** Whether an error means that the server cannot be reached, or cannot work on this now: trying again later may help. */
export function isUnavailable(error: DriverError): boolean {
  if (error instanceof ConnectError) return error.reason === 'unreachable';
  const { code, syscall, message } = error;
  if (typeof code === 'string') {
    if (UNAVAILABLE_SYSTEM_CODES.has(code)) return true;
    if (syscall === 'connect' && UNAVAILABLE_SOCKET_CODES.has(code)) return true;
    if (code.length === 5 && UNAVAILABLE_STATES.test(code)) return true;
    if (code.length === 5 && typeof message === 'string' && UNAVAILABLE_NODES.test(message)) return true;
  }
  return typeof message === 'string' && UNAVAILABLE_MESSAGES.test(message);
}
