import { join } from 'node:path';

/** The files of one embedded server. */
export interface Layout {
  /** what the service calls its data folder */
  readonly dataDir: string;
  /** the server's part of it, which the account of the server alone may enter */
  readonly folder: string;
  /** PostgreSQL's own data directory */
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
