import { shorten } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';

const PART = /^[A-Za-z0-9._-]{1,96}$/;

/**
 * Checks the name of a dataset before any request is made: `<owner>/<dataset>` or one legacy name, each part
 * of `[A-Za-z0-9._-]`, at most 96 characters, never `..`.
 *
 * @returns the path as it was given
 * @throws HubError `invalid_request`
 */
export function validateDatasetPath(path: unknown): string {
  if (typeof path !== 'string') throw invalidPath('path must be a string');
  const parts = path.split('/');
  if (parts.length > 2) throw invalidPath(`path ${shorten(path)} has more than two parts`);
  for (const part of parts) {
    if (part.length > 96) throw invalidPath(`path ${shorten(path)} has a part of over 96 characters`);
    // A part "." would vanish from the address and name another resource.
    if (!PART.test(part) || part.includes('..') || part === '.')
      throw invalidPath(`path ${shorten(path)} is not one`);
  }
  return path;
}

function invalidPath(reason: string): HubError {
  return new HubError(
    'invalid_request',
    `${reason}: a dataset is named <owner>/<dataset> or by one legacy name, of letters, digits, ".", "_" and "-"`,
  );
}

/** Longer than any branch name that file systems let git keep. */
const MAX_REVISION_LENGTH = 255;

/**
 * Checks a branch, tag, commit or ref by the rules of git-check-ref-format, so that it stays one segment of an
 * address when percent-encoded.
 *
 * @throws HubError `invalid_request`
 */
export function validateRevision(revision: unknown): string {
  if (typeof revision !== 'string') throw new HubError('invalid_request', 'revision must be a string');
  const bad =
    revision === '' ||
    revision.length > MAX_REVISION_LENGTH ||
    !revision.isWellFormed() ||
    /[\0- ~^:?*[\\\x7f]|\.\.|@\{|\/\//.test(revision) ||
    /^[/-]|[/.]$|\.lock$/.test(revision) ||
    revision.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'));
  if (bad) {
    throw new HubError(
      'invalid_request',
      `revision ${shorten(revision)} is not a branch, tag, commit or ref of git`,
    );
  }
  return revision;
}

/**
 * Checks an access token; null, undefined and the empty string stand for none.
 *
 * @throws HubError `invalid_request`; the message does not hold the value
 */
export function validateToken(token: unknown): string | undefined {
  if (token === undefined || token === null || token === '') return undefined;
  // Headers allow visible ASCII only; setting anything else would throw.
  if (typeof token === 'string' && /^[\x21-\x7e]{1,512}$/.test(token)) return token;
  throw new HubError('invalid_request', 'token must be 1 to 512 visible ASCII characters');
}

/** The path of a file in a repository, encoded for an address: every part, but not `/`. */
export function encodeFilePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
