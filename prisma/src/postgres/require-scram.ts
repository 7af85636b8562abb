import type pg from 'pg';
import { destroySocket, lacksServerProof, protocolEventsOf } from './pg-internals.ts';

const OTHER_METHODS = ['authenticationCleartextPassword', 'authenticationMD5Password'];

/**
 * Makes a client, before it connects, authenticate by SCRAM only, as libpq does with `require_auth=scram-sha-256`. `pg` itself
 * accepts any method: a program that listens in place of the server could request the password in clear text, or accept
 * every login and read the statements. The client closes the connection before it sends either.
 */
export function requireScram(client: pg.ClientBase): void {
  const events = protocolEventsOf(client);
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
    if (!hasResponded || lacksServerProof(client)) refuse();
  });
}
