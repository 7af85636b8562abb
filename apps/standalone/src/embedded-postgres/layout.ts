import { join } from 'node:path';

export interface Layout {
  readonly dataDir: string;
  /** The server's folder in it, which only the server's account can enter. */
  readonly folder: string;
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

/** The embedded server cannot start or stop. The message is one sentence that says why. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code = 'embedded_postgres';

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

export function explain(output: string, layout: Layout): string {
  if (/No space left on device|ENOSPC/.test(output)) {
    return `No space is left for the database in ${layout.folder}.`;
  }
  if (
    /wrong ownership|must be started by the user that owns|[Pp]ermission denied|EACCES|EPERM/.test(output)
  ) {
    return `The database folder ${layout.folder} belongs to another user or is not writable.`;
  }
  if (/EROFS|[Rr]ead-only file system/.test(output)) return `The folder ${layout.folder} is read-only.`;
  if (/could not create shared memory|Cannot allocate memory/.test(output)) {
    return 'Not enough memory for the embedded database server.';
  }
  if (/error while loading shared libraries|GLIBC|ENOENT/.test(output)) {
    return 'The PostgreSQL programs in the package do not run on this system: set DATABASE_URL instead.';
  }
  if (
    /invalid (?:primary )?checkpoint|could not locate a valid checkpoint|could not find the database system|is not a database cluster/.test(
      output,
    )
  ) {
    return `The database in ${layout.folder} is damaged: restore it from a copy.`;
  }
  const last = output.match(/(?:FATAL|PANIC|initdb: error): {1,2}(.+)/)?.[1];
  return `Cannot start the embedded database server: ${last ?? `see its log, ${layout.log}`}.`;
}
