/** The error that the service sent: the members of RFC 9457, and its stable `code` (docs/errors.md). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: string;
  readonly status: number;
  /** The whole body. */
  readonly problem: unknown;

  constructor(status: number, problem: unknown) {
    const { code, detail } = (typeof problem === 'object' && problem !== null ? problem : {}) as {
      readonly code?: unknown;
      readonly detail?: unknown;
    };
    const text =
      status < 400 ? 'The response is not one of this service.' : `The service returned status ${status}.`;
    super(typeof detail === 'string' ? detail : text);
    this.code = typeof code === 'string' ? code : 'bad_response';
    this.status = status;
    this.problem = problem;
  }
}

/** The body of a successful response. @throws ApiError for any other */
export function unwrap<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (error !== undefined || data === undefined || !response.ok) throw new ApiError(response.status, error);
  return data;
}

/** The error for a successful response of another server. @param what it is not, such as "no list" */
export function badResponse(status: number, path: string, what: string): ApiError {
  return new ApiError(status, { code: 'bad_response', detail: `${path} returned ${what}.` });
}

/** Whether a value is an object with these members as texts. */
export function hasTexts(value: unknown, ...names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'string')
  );
}

/** An id as a part of a path. @throws TypeError for an empty one, which would be another path */
export function requireId(id: string, argument: string): string {
  if (typeof id === 'string' && /[^.]/.test(id)) return id;
  throw new TypeError(`${argument} must be an id, got ${JSON.stringify(id)}.`);
}
