import { checkNumber, checkOptions } from '../arguments/check-arguments.ts';

/** Options of `readItems` and `checkItems`. */
export interface CheckItemsOptions {
  /** The name of the file in locations. */
  readonly file?: string;
  /** Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** Levels of nesting, default 256. */
  readonly maxDepth?: number;
  readonly signal?: AbortSignal;
}

/** @throws TypeError, RangeError for an option that does not exist or cannot be */
export function checkReadOptions(of: string, options: CheckItemsOptions): void {
  checkOptions(of, options, { file: true, maxLineBytes: true, maxDepth: true, signal: true });
  checkNumber('maxLineBytes', options.maxLineBytes, { min: 1 });
  checkNumber('maxDepth', options.maxDepth, { min: 1 });
}
