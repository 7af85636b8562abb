import type { Schema } from '@svc/runtime';

/** The header, for the OpenAPI document. */
export const PREFER: Schema = {
  type: 'string',
  description: '`respond-async`: run as a job; the response is 202 with the location of the job',
};

/** Response header when the preference was applied (RFC 7240 section 3). */
export const ASYNC_APPLIED: Readonly<Record<string, string>> = { 'Preference-Applied': 'respond-async' };

/** Whether a `Prefer` header (RFC 7240) has the preference `respond-async`, possibly among others and with parameters. */
export function prefersAsync(header: string | undefined): boolean {
  // An unterminated quoted string extends to the end of the header, so that no part is searched twice.
  const withoutQuotes = (header ?? '').replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)/g, '');
  return withoutQuotes.split(',').some((preference) => {
    const name = preference.split(/[;=]/, 1)[0] ?? '';
    return name.trim().toLowerCase() === 'respond-async';
  });
}
