import pg from 'pg';

/** What of a `pg` client shows how a server wants to be logged in to. */
interface Wire {
  readonly connection: {
    readonly stream: { destroy(): void };
    emit(event: 'error', error: Error): void;
    prependListener(event: string, listener: () => void): void;
    removeAllListeners(event: string): void;
  };
  /** Until the server has proved that it knows the password; `pg` keeps it where the proof is wrong. */
  readonly saslSession?: object | null;
}

const OTHER_METHODS = ['authenticationCleartextPassword', 'authenticationMD5Password'];

/**
 * A client that logs in by SCRAM or not at all, as libpq does with `require_auth=scram-sha-256`. `pg` itself answers
 * any method: whoever listens in the server's place could ask for the password in clear text, or let everybody in and
 * read the statements. Here the line is cut before anything of that is sent.
 */
export class ScramClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const wire = this as unknown as Wire;
    let hasResponded = false;
    const refuse = (): void => {
      wire.connection.stream.destroy();
      // what came with it counts no more
      wire.connection.removeAllListeners('readyForQuery');
      const message = 'Cannot log in: the server wants another method than scram-sha-256.';
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
