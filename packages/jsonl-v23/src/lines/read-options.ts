import { checkNumber, checkText } from '../arguments/check-arguments.ts';
import { HIGHEST_MAX_DEPTH } from '../json/parse-json.ts';

/** Options of `readItems` and `checkItems`. */
export interface CheckItemsOptions {
  /** The name of the file in locations. */
  readonly file?: string;
  /** Default 64 MiB. */
  readonly maxLineBytes?: number;
  /** Levels of nesting, default 256, at most 1,000. */
  readonly maxDepth?: number;
  readonly signal?: AbortSignal;
}

/** @throws TypeError, RangeError for an option that cannot be */
export function checkReadOptions(options: CheckItemsOptions): void {
  checkText('file', options.file);
  checkNumber('maxLineBytes', options.maxLineBytes, { min: 1 });
  checkNumber('maxDepth', options.maxDepth, { min: 1, max: HIGHEST_MAX_DEPTH });
}
