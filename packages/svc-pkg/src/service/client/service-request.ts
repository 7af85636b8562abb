/** A request to the service. */
export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service's URL; begins with "/". */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** How long the service may take to begin its response; 0 for no limit. */
  readonly responseTimeoutMs?: number;
}

/** A response that is a JSON document. */
export interface JsonResponse<T> {
  readonly status: number;
  /** The document as it arrived. */
  readonly text: string;
  readonly value: T;
}
