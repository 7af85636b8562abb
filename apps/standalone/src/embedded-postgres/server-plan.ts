import type { SocketFolder } from './connection/endpoint.ts';
import type { Layout } from './layout.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import type { Guard } from './process/guard.ts';
import type { Account } from './process/spawn-as.ts';

/** Everything that the start of the server needs. */
export interface ServerPlan {
  readonly layout: Layout;
  readonly binaries: PostgresBinaries;
  readonly account: Account | null;
  readonly guard: Guard;
  readonly socketFolder: SocketFolder;
  /** How the server names its working directory. */
  readonly nameOf: (folder: string) => string;
  readonly settings: Readonly<Record<string, string>>;
  readonly superuserPassword: string;
  readonly servicePassword: string;
  readonly signal: AbortSignal;
}
