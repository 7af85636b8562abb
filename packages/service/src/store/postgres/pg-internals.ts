/**
 * Every member of `pg` that this service uses and `pg` does not publish. `test/store/driver/pg-internals.test.ts` checks each
 * of them on the pinned version.
 */
import type { Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import pg from 'pg';

interface Internals {
  readonly connection: ProtocolEvents & { readonly stream: Socket };
  /** How the connection is encrypted; false for one that is not. */
  readonly ssl: TlsOptions | false;
  readonly host: string;
  readonly port: number;
  /** The process that works for the connection, as its start named it; a pooler makes up a number. */
  readonly processID: number;
  readonly secretKey: number;
  /** Whether the connection has no query. */
  readonly readyForQuery: boolean;
  /** Null once the server has proved that it knows the password; `pg` keeps the session if the proof is wrong. */
  readonly saslSession?: object | null;
}

export const internalsOf = (client: pg.ClientBase): Internals => client as unknown as Internals;

/** Messages of the server, as events with these names: `authenticationOk`, `readyForQuery` and so on. */
interface ProtocolEvents {
  emit(event: 'error', error: Error): void;
  prependListener(event: string, listener: (message?: { readonly code?: string }) => void): void;
  removeAllListeners(event?: string): void;
}

interface RawConnection extends NodeJS.EventEmitter {
  readonly stream: Socket;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

export function createConnection(ssl: TlsOptions | false): RawConnection {
  return new pg.Connection({ ssl, keepAlive: true }) as unknown as RawConnection;
}

export function socketOf(client: pg.ClientBase): Socket {
  return internalsOf(client).connection.stream;
}

/** Closes a connection immediately: its query fails, and the server stops sending. */
export function destroySocket(client: pg.ClientBase, error?: Error): void {
  socketOf(client).destroy(error);
}

/**
 * Gives a client that is not connected, or could not connect, a new connection to begin with, encrypted or not. What is still
 * heard of the one before concerns nobody.
 */
export function renewConnection(client: pg.ClientBase, ssl: TlsOptions | false): void {
  const internals = internalsOf(client);
  const before = internals.connection;
  before.removeAllListeners();
  before.prependListener('error', () => undefined);
  before.stream.destroy();
  Object.assign(internals, {
    connection: createConnection(ssl),
    ssl,
    _connecting: false,
    _connectionError: false,
  });
}

/**
 * Makes an error of the driver's parser the end of its connection, and so of the query that uses it. The driver parses
 * inside the socket's `data` event, where a throw, such as for a value that no string can hold, would end the process.
 */
export function containParserErrors(client: pg.ClientBase): void {
  const stream = socketOf(client);
  for (const parse of stream.listeners('data') as ((chunk: Buffer) => void)[]) {
    stream.off('data', parse);
    stream.on('data', (chunk: Buffer) => {
      try {
        parse(chunk);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
  }
}
