import type { ErrorView } from '@svc/runtime';
import type { HubErrorCode } from './repository.ts';

/** Paths that clients of the hub ask. */
const API = /^\/api(?:\/|$)/;
const FILE = /^\/datasets\/[^/]+(?:\/[^/]+)?\/resolve\//;
/** Repositories of other owners than `svc`. */
const FOREIGN = /^(?:\/api)?\/datasets\/(?!svc\/)[^/]+\/[^/]+/;

/** Adds to an error what clients of the hub read: `X-Error-Code` and `X-Error-Message`. Errors of other paths stay as they are. */
export function withHubHeaders(view: ErrorView, path: string): ErrorView {
  if (!API.test(path) && !FILE.test(path)) return view;
  const code = codeOf(view, path);
  const headers = {
    ...(code === undefined ? {} : { 'X-Error-Code': code }),
    'X-Error-Message': view.detail.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 500),
    ...view.headers,
  };
  return { ...view, headers };
}

function codeOf({ row }: ErrorView, path: string): HubErrorCode | undefined {
  if (row.status === 401) return 'RepoNotFound';
  return row.status === 404 && FOREIGN.test(path) ? 'RepoNotFound' : undefined;
}
