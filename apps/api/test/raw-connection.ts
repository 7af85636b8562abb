import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which a test says exactly the bytes it wants to say. */
export interface RawConnection extends Disposable {
  readonly socket: Socket;
  /** Sends bytes as they are; text is sent as Latin-1. */
  send(bytes: string | Uint8Array): void;
  /** everything that came so far, as Latin-1 */
  readonly answer: () => string;
  /** Resolves with the answer as soon as it matches; rejects with it when the connection ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything that came, when the server has ended the connection. */
  readonly ended: Promise<string>;
}

/** Connects to a service by its URL. */
export async function openConnection(
  url: string,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, ...options });
  await once(socket, 'connect');
  let answer = '';
  socket.setEncoding('latin1');
  // a server that drops the connection while we still send is one of the answers
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(answer)));
  const listeners = new Set<() => void>();
  socket.on('data', (chunk) => {
    answer += chunk;
    for (const listener of listeners) listener();
  });
  return {
    socket,
    send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    answer: () => answer,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(answer)) return;
          listeners.delete(look);
          resolve(answer);
        };
        listeners.add(look);
        look();
        void ended.then(() =>
          reject(new Error(`the connection ended with ${JSON.stringify(answer.slice(-300))}`)),
        );
      }),
    ended,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Asks for a stream, takes its head and nothing more. */
export async function readNothing(url: string, path: string, headers = ''): Promise<RawConnection> {
  const connection = await openConnection(url);
  connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);
  await connection.until(/^HTTP\/1\.1 200 /);
  connection.socket.pause();
  return connection;
}
