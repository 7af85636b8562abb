import { type EventType, event } from '../event.ts';

/** What the log says of one request. */
export interface RequestFields {
  readonly method: string;
  /** The route template, or `__unmatched__`. */
  readonly route: string;
  /** 499 if the client disconnected before the end of the response. */
  readonly status_code: number;
  /** From the head of the request to the end of the response, in milliseconds. */
  readonly duration_ms: number;
  /** Bytes of the body that were read. */
  readonly bytes_in: number;
  /** Bytes that were written, with the head of the response. */
  readonly bytes_out: number;
  /** The stable code of an error response. */
  readonly code?: string | undefined;
}

/** The event that the package writes; a logger that declares an event of this name changes its level. */
export const REQUEST_EVENTS: { readonly 'http.request': EventType<RequestFields> } = {
  'http.request': event<RequestFields>('info'),
};
