import { shorten } from '@svc/tabular';
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

const invalid = (message: string): HubError => new HubError('invalid_request', message);

function invalidPath(reason: string): HubError {
  return invalid(
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
  if (typeof revision !== 'string') throw invalid('revision must be a string');
  const bad =
    revision === '' ||
    revision.length > MAX_REVISION_LENGTH ||
    !revision.isWellFormed() ||
    /[\0- ~^:?*[\\\x7f]|\.\.|@\{|\/\//.test(revision) ||
    /^[/-]|[/.]$|\.lock$/.test(revision) ||
    revision.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'));
  if (bad) {
    throw invalid(`revision ${shorten(revision)} is not a branch, tag, commit or ref of git`);
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
  throw invalid('token must be 1 to 512 visible ASCII characters');
}

/** The path of a file in a repository, encoded for an address: every part, but not `/`. */
export function encodeFilePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A dataset as a person names it. */
export interface DatasetPath {
  /** `owner/name`, or a legacy name. */
  readonly path: string;
  /** The revision in the address of a page; undefined if it has none. */
  readonly revision: string | undefined;
}

/** Longer than the address of any page of a dataset. */
const MAX_LENGTH = 1024;

/**
 * Reads what people paste: `owner/name`, `datasets/owner/name`, or the address of a page of the dataset, such as
 * `https://huggingface.co/datasets/owner/name/tree/v1.0/data`. An address of another hub would name another dataset.
 */
export function parseDatasetPath(pasted: unknown, hub: URL): DatasetPath {
  if (typeof pasted !== 'string' || pasted.length > MAX_LENGTH) {
    return { path: validateDatasetPath(pasted), revision: undefined };
  }
  const text = pasted.trim();
  if (/^https?:/i.test(text)) return fromAddress(text, hub);
  if (text.startsWith(`${hub.host}/datasets/`)) return fromAddress(`${hub.protocol}//${text}`, hub);
  const named = /^datasets\/([^/]+\/[^/]+)\/?$/.exec(text);
  return { path: validateDatasetPath(named?.[1] ?? pasted), revision: undefined };
}

/**
 * A path as it was pasted, for the record. An address loses its user name, password, query and fragment, which name no
 * dataset and may hold a token.
 */
export function withoutCredentials(pasted: string): string {
  const [named = ''] = pasted.split(/[?#]/, 1);
  // Parsers of addresses take less than two slashes too, and backslashes.
  const scheme = /^\s*https?:/i.exec(named)?.[0];
  if (scheme === undefined) return /^[^/]+\/datasets\//.test(named) ? named : pasted;
  const host = named.slice(scheme.length).search(/[^\\/\s]/) + scheme.length;
  const [authority = ''] = named.slice(host).split(/[\\/]/, 1);
  return `${named.slice(0, host)}${named.slice(host + authority.lastIndexOf('@') + 1)}`;
}

function fromAddress(text: string, hub: URL): DatasetPath {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.host !== hub.host || !url.pathname.startsWith(hub.pathname)) {
    const got = url === null ? 'no valid address' : `an address of ${shorten(url.host)}`;
    throw invalid(`path must be a dataset of the hub ${hub.host}, got ${got}`);
  }
  const parts = url.pathname.slice(hub.pathname.replace(/\/$/, '').length).split('/').slice(1);
  const [folder, ...rest] = parts;
  if (folder !== 'datasets' || rest[0] === undefined || rest[0] === '') {
    throw invalid('path must be the address of a dataset, such as <hub>/datasets/<owner>/<name>');
  }
  // Pages of a dataset: `tree/<revision>/<folder>`, `blob/<revision>/<file>`, `viewer/<subset>/<split>`.
  const page = rest.findIndex((part, index) => index > 0 && PAGES.includes(part));
  const name = (page === -1 ? rest : rest.slice(0, page)).filter((part) => part !== '').join('/');
  const revision = page !== -1 && REVISION_PAGES.includes(rest[page] ?? '') ? rest[page + 1] : undefined;
  return { path: validateDatasetPath(name), revision: revision === undefined ? undefined : decode(revision) };
}

const REVISION_PAGES = ['tree', 'blob', 'resolve', 'commit', 'commits'];
const PAGES = [...REVISION_PAGES, 'viewer', 'discussions', 'settings', 'raw'];

function decode(part: string): string | undefined {
  if (part === '') return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid('path has a revision that is not percent-encoded UTF-8');
  }
}
