/** Whether a list of entity tags names this one, by weak comparison (RFC 9110 section 13.1.2). */
export function isUnchanged(ifNoneMatch: string | undefined, etag: unknown): boolean {
  if (ifNoneMatch === undefined || typeof etag !== 'string') return false;
  const tags = ifNoneMatch.split(',').map((tag) => withoutWeak(tag.trim()));
  return tags.includes('*') || tags.includes(withoutWeak(etag));
}

const withoutWeak = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);
