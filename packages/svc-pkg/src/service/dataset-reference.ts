import { CliError } from '../errors/cli-error.ts';

/** What a command line names: a dataset, and perhaps one of its versions. */
export interface DatasetReference {
  /** Id, handle or name. */
  readonly dataset: string;
  /** Number, or at least 8 digits of a version hash; undefined for the newest. */
  readonly version?: string | undefined;
}

/** A number, or at least 8 digits of a version hash. */
const VERSION = /^(?:[1-9]\d{0,8}|[0-9a-f]{8,64})$/;

/** How a command line names a dataset, for help. */
export const DATASET_ARGUMENT = 'id or handle of the dataset, or its name if it is unique';
/** How a command line names a version of a dataset, for help. */
export const VERSION_ARGUMENT: string = `${DATASET_ARGUMENT}; @ and a version after it reads that version`;

/**
 * Reads `dataset@version`. Text after the last `@` that is not a version belongs to the name: a dataset whose name ends like a
 * version is named by its id or handle.
 */
export function parseDatasetReference(text: string): DatasetReference {
  const at = text.lastIndexOf('@');
  const version = text.slice(at + 1);
  return at > 0 && VERSION.test(version)
    ? { dataset: text.slice(0, at), version }
    : { dataset: text, version: undefined };
}

/**
 * The version that a separate argument names.
 *
 * @throws CliError `usage`
 */
export function checkVersion(text: string): string {
  if (VERSION.test(text)) return text;
  throw new CliError(
    'usage',
    `A version must be a number or at least 8 digits of a version hash, got ${JSON.stringify(text)}`,
  );
}
