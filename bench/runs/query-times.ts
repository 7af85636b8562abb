import { createHash } from 'node:crypto';
import type { Service } from '../service.ts';
import type { InsertedRuns } from './insert-runs.ts';

/** How long one request took: first, and then again. */
export interface QueryTime {
  readonly label: string;
  readonly firstMs: number;
  readonly againMs: number;
  readonly totalItems: number | undefined;
}

interface Page {
  readonly meta?: { readonly next_cursor: string | null; readonly total_items: number };
}

const ROUNDS = 3;
/** Pages of 100 to read before one counts as deep. */
const DEEP_PAGES = 50;

/** Times what the console asks about a large run: lists, filters, breakdown and comparison. */
export async function* queryTimes(
  { url }: Pick<Service, 'url'>,
  { runId, otherRunId }: InsertedRuns,
): AsyncGenerator<QueryTime> {
  const get = async (path: string): Promise<{ readonly ms: number; readonly page: Page }> => {
    const startedAt = performance.now();
    const response = await fetch(`${url}/runs/${runId}${path}`);
    const page = (await response.json()) as Page;
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(page)}`);
    return { ms: performance.now() - startedAt, page };
  };
  const time = async (label: string, path: string): Promise<QueryTime> => {
    const first = await get(path);
    const again = [];
    for (let round = 0; round < ROUNDS; round += 1) again.push((await get(path)).ms);
    return {
      label,
      firstMs: first.ms,
      againMs: Math.max(...again),
      totalItems: first.page.meta?.total_items,
    };
  };
  /** The cursor of a later page. */
  const deep = async (path: string): Promise<string> => {
    let cursor = '';
    for (let page = 0; page < DEEP_PAGES; page += 1) {
      const next = (await get(`${path}&limit=100${cursor}`)).page.meta?.next_cursor;
      if (next == null) break;
      cursor = `&cursor=${next}`;
    }
    return cursor;
  };

  yield await time('the run with its scores', '');
  const lists = [
    '',
    'status=failed',
    'status=unscored',
    'passed=true',
    'passed=false',
    'section=section%209',
    'type=numeric',
    'tag=topic-3',
    'tag=level-7',
    'tag=none',
    'finish_reason=length',
    'finish_reason=content_filter',
    'status=ok&passed=false&finish_reason=length',
    'section=section%209&type=numeric&tag=topic-3&status=failed',
    'type=exact&tag=level-7&passed=true',
    'status=failed&passed=true',
    `item_hash=${createHash('sha256').update('item 7').digest('hex')}`,
    'q=apples',
    'q=%23%23%23%23%20999999',
    'q=nowhere+to+be+found',
    'q=apples+gives+away&status=ok&finish_reason=length',
    'q=%C3%A9t%C3%A9',
  ];
  for (const filter of lists) yield await time(`results?${filter}`, `/results?${filter}`);
  yield await time('results?include=item', '/results?include=item');
  for (const filter of ['', 'passed=false', 'tag=level-7&passed=true', 'q=market+market+noon']) {
    yield await time(
      `results?${filter}, a deep page`,
      `/results?${filter}${await deep(`/results?${filter}`)}`,
    );
  }
  yield await time('compare', `/compare/${otherRunId}?`);
  yield await time('compare?only=regressions', `/compare/${otherRunId}?only=regressions`);
  yield await time('compare?only=improvements', `/compare/${otherRunId}?only=improvements`);
  yield await time('compare, a deep page', `/compare/${otherRunId}?${await deep(`/compare/${otherRunId}?`)}`);
}
