import type { Page } from '../../src/store/database/page.ts';

/** Reads a list to its end. */
export async function allPages<T>(read: (cursor?: string) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    found.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}
