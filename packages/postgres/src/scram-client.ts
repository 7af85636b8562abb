import pg from 'pg';

/** The parts of a `pg` client that show which authentication method the server requests. */
interface Wire {
  readonly connection: {
    readonly stream: { destroy(): void };
    emit(event: 'error', error: Error): void;
    prependListener(event: string, listener: () => void): void;
    removeAllListeners(event: string): void;
  };
  /** Null once the server has proved that it knows the password; `pg` keeps the session if the proof is wrong. */
  readonly saslSession?: object | null;
}

const OTHER_METHODS = ['authenticationCleartextPassword', 'authenticationMD5Password'];

/**
 * A client that authenticates by SCRAM only, as libpq does with `require_auth=scram-sha-256`. `pg` itself accepts any
 * method: a program that listens in place of the server could request the password in clear text, or accept every login
 * and read the statements. This client closes the connection before it sends either.
 */
export class ScramClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const wire = this as unknown as Wire;
    let hasResponded = false;
    const refuse = (): void => {
      wire.connection.stream.destroy();
      // ignore the rest of what the server sent
      wire.connection.removeAllListeners('readyForQuery');
      const message = 'Cannot authenticate: the server requests a method other than scram-sha-256.';
      wire.connection.emit('error', new Error(message));
    };
    for (const method of OTHER_METHODS) wire.connection.prependListener(method, refuse);
    wire.connection.prependListener('authenticationSASLFinal', () => {
      hasResponded = true;
    });
    wire.connection.prependListener('authenticationOk', () => {
      if (!hasResponded || (wire.saslSession ?? null) !== null) refuse();
    });
  }
}
