/** The ids of a `traceparent` header. */
export interface TraceContext {
  /** 32 lower-case hex digits, the same in every service that works on a request. */
  readonly trace_id: string;
  /** 16 lower-case hex digits: the span of the caller. */
  readonly span_id: string;
}

// https://www.w3.org/TR/trace-context/#traceparent-header; a later version may append more after a dash
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Longest header that is read; version 00 has 55 characters. */
const MAX_LENGTH = 512;

/** Reads a W3C `traceparent` header. Undefined for an absent or invalid one, which the standard says to ignore. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, version, trace_id, span_id, more] = TRACEPARENT.exec(header) ?? [];
  if (trace_id === undefined || span_id === undefined) return undefined;
  return version === '00' && more !== undefined ? undefined : { trace_id, span_id };
}
