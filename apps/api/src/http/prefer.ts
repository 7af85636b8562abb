import type { Schema } from '@svc/runtime';

/** The header, for the OpenAPI document. */
export const PREFER: Schema = {
  type: 'string',
  description: '`respond-async`: the work becomes a job, and the answer is 202 with where it can be watched',
};

/** Header of the answer to a request whose preference was followed (RFC 7240 section 3). */
export const ASYNC_APPLIED: Readonly<Record<string, string>> = { 'Preference-Applied': 'respond-async' };

/**
 * Whether a `Prefer` header (RFC 7240) asks for an asynchronous answer: `respond-async` among its preferences,
 * which are separated by commas and may have parameters.
 */
export function prefersAsync(header: string | undefined): boolean {
  // A quoted string without an end reaches to the end of the header, so that no part of it is searched twice.
  const withoutQuotes = (header ?? '').replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)/g, '');
  return withoutQuotes.split(',').some((preference) => {
    const name = preference.split(/[;=]/, 1)[0] ?? '';
    return name.trim().toLowerCase() === 'respond-async';
  });
}
