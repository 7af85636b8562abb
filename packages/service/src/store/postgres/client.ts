import { once } from 'node:events';
import pg from 'pg';
import { ConnectError } from './driver-errors.ts';
import { createConnection, destroySocket, internalsOf, renewConnection } from './pg-internals.ts';
import { type Attempts, readTls } from './tls.ts';

interface ClientConfig extends pg.ClientConfig {
  readonly attempts: Attempts;
  readonly requiresScram: boolean;
}

/** Refuses the login as such, where another `sslmode` may be let in (pg_hba.conf). */
const NOT_ADMITTED = '28000';

/** A client that begins a connection as `sslmode` says, and whose errors say where it cannot connect to, and why. */
export class Client extends pg.Client {
  readonly #config: ClientConfig;

  constructor(config?: ClientConfig) {
    super(config);
    this.#config = config ?? { attempts: [false], requiresScram: false };
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    const connected = this.#connect();
    if (callback === undefined) return connected.then(() => this);
    connected.then(() => callback(null), callback);
    return undefined;
  }

  async #connect(): Promise<void> {
    const { attempts, requiresScram } = this.#config;
    for (const [index, tls] of attempts.entries()) {
      if (index > 0 || tls !== false) renewConnection(this, tls);
      if (requiresScram) requireScram(this);
      try {
        await super.connect();
        return;
      } catch (cause) {
        const error = new ConnectError(cause, this);
        const isAnotherWorth = error.reason === 'tls' || error.code === NOT_ADMITTED;
        if (index === attempts.length - 1 || !isAnotherWorth) throw error;
      }
    }
  }
}

export interface ConnectionOptions {
  /**
   * A postgresql:// URL, with `sslmode`, `sslrootcert`, `sslcert` and `sslkey` as libpq defines them; with
   * `?require_auth=scram-sha-256`, only that authentication method is accepted.
   */
  readonly url: string;
  readonly applicationName?: string;
}

const CONNECT_TIMEOUT_MS = 10_000;

export function connectionConfig(options: ConnectionOptions): ClientConfig {
  const { url, attempts } = readTls(options.url);
  const parameters = URL.parse(options.url)?.searchParams;
  return {
    connectionString: url,
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    enableChannelBinding: parameters?.get('channel_binding') === 'require',
    attempts,
    requiresScram: parameters?.get('require_auth') === 'scram-sha-256',
  };
}

export function createClient(options: ConnectionOptions, more: pg.ClientConfig = {}): Client {
  return new Client({ ...connectionConfig(options), ...more });
}

const OTHER_METHODS = ['authenticationCleartextPassword', 'authenticationMD5Password'];

/**
 * Makes a client, before it connects, authenticate by SCRAM only, as libpq does with `require_auth=scram-sha-256`. `pg` itself
 * accepts any method: a program that listens in place of the server could request the password in clear text, or accept
 * every login and read the statements. The client closes the connection before it sends either.
 */
function requireScram(client: pg.ClientBase): void {
  const events = internalsOf(client).connection;
  let hasResponded = false;
  const refuse = (): void => {
    destroySocket(client);
    // ignore the rest of what the server sent
    events.removeAllListeners('readyForQuery');
    const message = 'Cannot authenticate: the server requests a method other than scram-sha-256.';
    events.emit('error', new Error(message));
  };
  for (const method of OTHER_METHODS) events.prependListener(method, refuse);
  events.prependListener('authenticationSASLFinal', () => {
    hasResponded = true;
  });
  events.prependListener('authenticationOk', () => {
    // The server has yet to prove that it knows the password, or its proof was wrong.
    if (!hasResponded || internalsOf(client).saslSession != null) refuse();
  });
}

/** Whether a connection goes through a pooler: another process works for it than its start named. */
export async function isThroughPooler(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid !== internalsOf(client).processID;
}

const TIMEOUT_MS = 5_000;

/**
 * Asks the server to cancel the query of a connection (PostgreSQL protocol, "Canceling Requests in Progress"), on a
 * separate connection, encrypted like the first, which a pooler forwards as well. Resolves when the server has closed it, or
 * does not respond in time; only the query itself shows whether it was cancelled. Never throws.
 */
export async function cancelQuery(client: pg.ClientBase): Promise<void> {
  const { host, port, processID, secretKey, ssl } = internalsOf(client);
  const connection = createConnection(ssl);
  const cancel = (): void => connection.cancel(processID, secretKey);
  connection.on('error', () => undefined);
  connection.on('connect', () => (ssl === false ? cancel() : connection.requestSsl()));
  connection.on('sslconnect', cancel);
  connection.stream.setTimeout(TIMEOUT_MS, () => connection.stream.destroy());
  const ended = once(connection, 'end');
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  await ended.catch(() => undefined);
}
