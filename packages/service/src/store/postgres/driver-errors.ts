import type pg from 'pg';

/**
 * Why a database cannot be used:
 *
 * - `unreachable`: the host is unknown, the port is closed, or nothing responds
 * - `refused`: wrong password, unknown database, missing right
 * - `tls`: no TLS on one side, or a certificate that is not verified
 */
export type ConnectReason = 'unreachable' | 'refused' | 'tls';

/** Classes of SQLSTATE: invalid authorization, unknown database or schema, missing right. */
const REFUSED = /^(?:28...|3D000|42501)$/;
/** What `pg` and Node.js call it; a server that wants TLS names the lack of it. */
const TLS_CODES =
  /^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_|INVALID_)/;
const TLS_MESSAGES = /SSL connections?$|no encryption$|SSL off$/;
/** The client itself refuses a server that wants the password in another way, or has none to send. */
const REFUSED_MESSAGES = /^(?:Cannot authenticate|SASL|SCRAM)/;

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens on that port',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ETIMEDOUT: 'it does not respond',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'it closed the connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed, and sslrootcert does not name it',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed, and sslrootcert does not name it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'no authority that is known has signed its certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'no authority that is known has signed its certificate',
};

interface Facts {
  readonly code?: unknown;
  readonly message?: string;
  readonly errors?: readonly unknown[];
}

/** A connection that could not be made; the message names host, port and database, and the reason of the system. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly reason: ConnectReason;
  readonly code: string | undefined;

  constructor(cause: unknown, to: Pick<pg.Client, 'host' | 'port' | 'database' | 'user'>) {
    const facts = factsOf(cause);
    const place = to.host.startsWith('/') ? to.host : `${to.host}:${to.port}`;
    const what = `the database ${JSON.stringify(to.database ?? '')} at ${place}`;
    super(`Cannot connect to ${what} as ${JSON.stringify(to.user ?? '')}: ${wordsOf(facts)}.`, { cause });
    this.code = typeof facts.code === 'string' ? facts.code : undefined;
    this.reason = reasonOf(facts);
  }
}

/** Node.js tries all addresses of a name, and reports them together. */
function factsOf(error: unknown): Facts {
  const facts = (error ?? {}) as Facts;
  const [first] = facts.errors ?? [];
  return first === undefined ? facts : (first as Facts);
}

function reasonOf({ code, message = '' }: Facts): ConnectReason {
  if (TLS_MESSAGES.test(message) || TLS_CODES.test(String(code))) return 'tls';
  return isRefused(code) || REFUSED_MESSAGES.test(message) ? 'refused' : 'unreachable';
}

/** Whether a SQLSTATE means that the server knows the caller, the database or the right not. */
export const isRefused = (code: unknown): boolean => REFUSED.test(String(code));

function wordsOf({ code, message = '' }: Facts): string {
  const words = WORDS[String(code)] ?? (message.split(';')[0] || 'no reason is known').replace(/\.$/, '');
  return typeof code === 'string' ? `${words} (${code})` : words;
}

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
