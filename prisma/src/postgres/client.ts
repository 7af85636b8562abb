import pg from 'pg';
import { ConnectError } from './connect-error.ts';
import { renewConnection } from './pg-internals.ts';
import { requireScram } from './require-scram.ts';
import type { Attempts } from './tls.ts';

/** What {@link Client} needs beside what `pg` takes. */
export interface ClientConfig extends pg.ClientConfig {
  readonly attempts: Attempts;
  /** Whether SCRAM is the only method of authentication that is accepted. */
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
