/** `svc-pkg`: the command line, for programs that add a database to it. The package is made for its command. */
export type { DatabasePort, Download } from './cli-context.ts';
export { CliError } from './errors/cli-error.ts';
export { runProcess } from './run-process.ts';
export { isDatasetId, onlyOne } from './service/references.ts';
