/** `svc-pkg`: the command line, for programs that add a database to it. The package is made for its command. */
export type { DatabasePort } from './database/database-port.ts';
export { CliError } from './errors/cli-error.ts';
export type { Download } from './package/download.ts';
export { runProcess } from './run-process.ts';
export { isDatasetId, onlyOne } from './service/find-dataset.ts';
