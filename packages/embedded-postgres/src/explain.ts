import type { Layout } from './layout.ts';

/** One sentence for what PostgreSQL or the file system said. */
export function explain(output: string, layout: Layout): string {
  if (/No space left on device|ENOSPC/.test(output)) {
    return `There is no space left for the database in ${layout.folder}.`;
  }
  if (
    /wrong ownership|must be started by the user that owns|[Pp]ermission denied|EACCES|EPERM/.test(output)
  ) {
    return `The database folder ${layout.folder} belongs to another user or may not be written.`;
  }
  if (/EROFS|[Rr]ead-only file system/.test(output)) return `The folder ${layout.folder} is read-only.`;
  if (/could not create shared memory|Cannot allocate memory/.test(output)) {
    return 'There is not enough memory for the embedded database server.';
  }
  if (/error while loading shared libraries|GLIBC|ENOENT/.test(output)) {
    return 'The PostgreSQL programs in the package do not run on this system: name a database by DATABASE_URL instead.';
  }
  if (
    /invalid (?:primary )?checkpoint|could not locate a valid checkpoint|could not find the database system|is not a database cluster/.test(
      output,
    )
  ) {
    return `The database in ${layout.folder} is damaged: restore it from a copy.`;
  }
  const last = output.match(/(?:FATAL|PANIC|initdb: error): {1,2}(.+)/)?.[1];
  return `The embedded database server does not start: ${last ?? `its log is ${layout.log}`}.`;
}
