/** How one error code is reported over HTTP. */
export interface ProblemRow {
  readonly status: number;
  /** A fixed phrase; `detail` says what went wrong this time. */
  readonly title: string;
  /** The code of the response, if several causes share one. */
  readonly code?: string;
}

/** The codes of the HTTP layer itself. Each app adds the codes of the packages that it uses. */
export const HTTP_PROBLEM_ROWS = {
  invalid_json: { status: 400, title: 'Invalid JSON' },
  invalid_request: { status: 400, title: 'Invalid request' },
  unauthenticated: { status: 401, title: 'Authentication required' },
  key_expired: { status: 401, title: 'Key expired' },
  forbidden: { status: 403, title: 'Forbidden' },
  cross_origin: { status: 403, title: 'Cross-origin request refused' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  not_acceptable: { status: 406, title: 'Not acceptable' },
  request_timeout: { status: 408, title: 'Request timeout' },
  body_too_large: { status: 413, title: 'Body too large' },
  upload_too_large: { status: 413, title: 'Upload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable' },
  misdirected_request: { status: 421, title: 'Misdirected request' },
  rate_limited: { status: 429, title: 'Too many requests' },
  request_id_too_long: { status: 431, title: 'Request id too long' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Service unavailable' },
} as const satisfies Readonly<Record<string, ProblemRow>>;

/** Codes of errors in the request itself. */
export type RequestErrorCode = Exclude<keyof typeof HTTP_PROBLEM_ROWS, 'internal'>;

export interface FieldError {
  /** Code of this error, if it has its own. */
  readonly code?: string;
  readonly message: string;
  /** JSON Pointer into the body, or the name of the query parameter or form field. */
  readonly path?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly row?: number;
}

export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly code: RequestErrorCode;
  readonly errors: readonly FieldError[];
  /** Response headers, such as `Allow` or `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  /** What makes the service unavailable, as `/readyz` names it. */
  readonly reason: string | undefined;

  constructor(
    code: RequestErrorCode,
    message: string,
    details: Partial<Pick<RequestError, 'errors' | 'headers' | 'cause' | 'reason'>> = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.errors = details.errors ?? [];
    this.headers = details.headers ?? {};
    this.reason = details.reason;
  }
}

/** The error of a request that may be repeated after some seconds. */
export function retryLater(
  code: 'rate_limited' | 'unavailable',
  message: string,
  seconds: number,
  details: { readonly cause?: unknown; readonly reason?: string } = {},
): RequestError {
  const headers = { 'Retry-After': String(seconds) };
  return new RequestError(code, message, { headers, ...details });
}

/** The error for one member of a request. @param path JSON Pointer into the body, or the name of a parameter, field or header */
export function invalidRequest(path: string, message: string, cause?: unknown): RequestError {
  return new RequestError('invalid_request', message, { errors: [{ message, path }], cause });
}

/** The error for a rule that a schema could state, in its words: `Invalid query: limit must be at most 100.` */
export function invalidMember(where: 'query' | 'body', path: string, rule: string): RequestError {
  const message = `${path} ${rule}`;
  return new RequestError('invalid_request', `Invalid ${where}: ${message}.`, {
    errors: [{ message, path }],
  });
}
