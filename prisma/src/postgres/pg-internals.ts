/**
 * Every member of `pg` that this service uses and `pg` does not publish. `prisma/test/driver/pg-internals.test.ts` checks
 * each of them on the pinned version.
 */
import type { Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import pg from 'pg';

interface Internals {
  readonly connection: ProtocolEvents & { readonly stream: Socket };
  readonly ssl: TlsOptions | false;
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
  readonly readyForQuery: boolean;
  /** Published as an option of the client only. */
  pipeline: boolean;
  /** Null once the server has proved that it knows the password; `pg` keeps the session if the proof is wrong. */
  readonly saslSession?: object | null;
}

/** Messages of the server, as events with these names: `authenticationOk`, `readyForQuery` and so on. */
export interface ProtocolEvents {
  emit(event: 'error', error: Error): void;
  prependListener(event: string, listener: (message?: { readonly code?: string }) => void): void;
  removeAllListeners(event?: string): void;
}

/** A connection without a client. */
export interface RawConnection extends NodeJS.EventEmitter {
  readonly stream: Socket;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** Makes one that is not connected yet. */
export function createConnection(ssl: TlsOptions | false): RawConnection {
  return new pg.Connection({ ssl, keepAlive: true }) as unknown as RawConnection;
}

/** What identifies the query of a connection to a server that is to cancel it. */
export interface CancelKey {
  readonly host: string;
  readonly port: number;
  readonly processId: number;
  readonly secretKey: number;
}

const internalsOf = (client: pg.ClientBase): Internals => client as unknown as Internals;

export function socketOf(client: pg.ClientBase): Socket {
  return internalsOf(client).connection.stream;
}

/** Closes a connection immediately: its query fails, and the server stops sending. */
export function destroySocket(client: pg.ClientBase, error?: Error): void {
  socketOf(client).destroy(error);
}

/** How a connection is encrypted; false for one that is not. */
export function tlsOf(client: pg.ClientBase): TlsOptions | false {
  return internalsOf(client).ssl;
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

/** What the server sends during authentication and after it. */
export function protocolEventsOf(client: pg.ClientBase): ProtocolEvents {
  return internalsOf(client).connection;
}

/** Whether the server has yet to prove that it knows the password, or its proof was wrong. */
export function lacksServerProof(client: pg.ClientBase): boolean {
  return (internalsOf(client).saslSession ?? null) !== null;
}

/** The process that works for a connection, as its start named it; a pooler makes up a number. */
export function processIdOf(client: pg.ClientBase): number {
  return internalsOf(client).processID;
}

/** @see cancelQuery */
export function cancelKeyOf(client: pg.ClientBase): CancelKey {
  const { host, port, processID, secretKey } = internalsOf(client);
  return { host, port, processId: processID, secretKey };
}

/** Whether a connection has no query. */
export function isIdle(client: pg.ClientBase): boolean {
  return internalsOf(client).readyForQuery;
}

/** Sets whether statements are sent without waiting for the result of the one before. A COPY needs it off. */
export function setPipelining(client: pg.ClientBase, isOn: boolean): void {
  internalsOf(client).pipeline = isOn;
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
