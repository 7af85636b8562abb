import pg from 'pg';
import { checkOwnHandle } from '../audit/actor.ts';
import { StoreError } from '../database/errors.ts';
import { isUuid, shortened } from '../database/values.ts';

/** The form of a handle, without regard to what is reserved. */
export const HANDLE: RegExp = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

const RESERVED: ReadonlySet<string> = new Set(['upload', 'hub', 'export', 'svc']);

/**
 * Checks a new handle: letters and digits of ASCII, `.`, `_` and `-`, as names of the hub, and no form of a UUID; and that
 * the key may give it.
 *
 * @throws StoreError `invalid_request`
 */
export function checkHandle(handle: string): void {
  const refuse = (rule: string): never => {
    const shown = JSON.stringify(shortened(handle));
    throw new StoreError('invalid_request', `The handle must ${rule}, got ${shown}.`);
  };
  if (!HANDLE.test(handle))
    refuse('have 1 to 96 letters, digits, ".", "_" or "-", and begin with a letter or digit');
  if (/[.-]$/.test(handle) || /--|\.\./.test(handle))
    refuse('not end with "." or "-", nor contain "--" or ".."');
  if (handle.toLowerCase().endsWith('.git')) refuse('not end with ".git"');
  if (isUuid(handle)) refuse('not have the form of an id');
  if (RESERVED.has(handle.toLowerCase())) refuse('not be a reserved name');
  checkOwnHandle(handle);
}

/** The error for a handle that another dataset has; any other error as it is. */
export function toHandleTaken(error: unknown, handle: string | null | undefined): unknown {
  const isTaken = error instanceof pg.DatabaseError && error.constraint === 'datasets_handle';
  return isTaken ? new StoreError('handle_taken', `Another dataset has the handle "${handle}".`) : error;
}
