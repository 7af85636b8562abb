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
    super(typeof detail === 'string' ? detail : `The service returned status ${status}.`);
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
