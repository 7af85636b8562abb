/** Codes of errors in the request itself. `problem.ts` has a row for each. */
export type RequestErrorCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'unauthenticated'
  | 'key_expired'
  | 'forbidden'
  | 'cross_origin'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'request_timeout'
  | 'body_too_large'
  | 'upload_too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'misdirected_request'
  | 'rate_limited'
  | 'request_id_too_long'
  | 'unavailable';

/** One of several errors in a request. */
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

/** The request cannot be served. */
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
