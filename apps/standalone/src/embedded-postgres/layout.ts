import { join } from 'node:path';

/** The files of one embedded server. */
export interface Layout {
  /** The service's data folder. */
  readonly dataDir: string;
  /** The server's folder in it, which only the server's account can enter. */
  readonly folder: string;
  /** PostgreSQL's data directory. */
  readonly data: string;
  readonly superuserPassword: string;
  readonly servicePassword: string;
  readonly log: string;
}

export function layoutOf(dataDir: string, name = 'postgres'): Layout {
  const folder = join(dataDir, name);
  return {
    dataDir,
    folder,
    data: join(folder, 'data'),
    superuserPassword: join(folder, 'password'),
    servicePassword: join(folder, 'service-password'),
    log: join(folder, 'server.log'),
  };
}
