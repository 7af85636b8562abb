import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { focusList } from './console-browser.ts';
import { type OwnConsole, startConsole } from './own-console.ts';

// What is shown to a colleague: a run as one file.

const ITEMS = 10_000;
const HOSTILE =
  '</td></tr><script>window.hacked=1</script><img src=http://evil.example/x onerror="window.hacked=1">';

let own: OwnConsole;
let dataset: string;
let run: string;
beforeAll(async () => {
  own = await startConsole({});
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    id: `q-${at}`,
    type: 'exact',
    tags: [`group ${at % 3}`],
    inputs: {
      prompt:
        at === 0 ? HOSTILE : `Which word is number ${at} of the list? ${'The list is long. '.repeat(10)}`,
    },
    answer: `word ${at}`,
    meta: { output: at % 4 === 0 ? `${HOSTILE} ${'wrong '.repeat(200)}` : `word ${at}` },
  }));
  dataset = await own.upload(items, 'Words');
  run = await own.run(dataset, { provider: { type: 'item_field', pointer: '/meta/output' } }, 'Ten thousand');
});
afterAll(() => own[Symbol.asyncDispose]());

describe('a list of 10,000 results', () => {
  it('reaches both ends in any order without what is between them', async () => {
    for (const [sort, last] of [
      ['', `q-${ITEMS - 1}`],
      ['?sort=-score&passed=false', 'q-0'],
    ] as const) {
      await using opened = await own.browser.open(`/console/runs/${run}${sort}`);
      const { page, faults, requests } = opened;
      const list = page.getByRole('grid', { name: 'Results' });
      await focusList(page, 'Results');
      await page.keyboard.press('End');
      await page.getByRole('heading', { name: last, exact: true }).waitFor();
      await list.locator('[aria-selected=true]').getByText(last, { exact: true }).waitFor();
      expect(await list.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press('ArrowUp');
      const before = sort === '' ? `q-${ITEMS - 2}` : 'q-4';
      await page.getByRole('heading', { name: before, exact: true }).waitFor();
      await page.keyboard.press('Home');
      const first = sort === '' ? 'q-0' : `q-${ITEMS - 4}`;
      await page.getByRole('heading', { name: first, exact: true }).waitFor();
      expect(requests.filter((request) => request.includes('/results?')).length).toBeLessThanOrEqual(6);
      expect(faults).toEqual([]);
    }
  });
});

describe('a result that an address names far down in the list', () => {
  it('says why it cannot be read, and is read again', async () => {
    type Page = { readonly data: readonly { readonly item_hash: string }[] };
    const { data } = await own.call<Page>('GET', `/runs/${run}/results?limit=1&offset=9000`);
    await using opened = await own.browser.open('/console/settings');
    const { page } = opened;
    await page.route(/\/results\?.*item_hash=/, (route) => route.fulfill({ status: 500 }));
    await page.goto(`${own.url}/console/runs/${run}?result=${data[0]?.item_hash}`);
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    await pane.getByRole('alert').waitFor();
    await page.unroute(/\/results\?.*item_hash=/);
    await pane.getByRole('button', { name: 'Try again' }).click();
    await pane.getByRole('heading', { name: 'q-9000', exact: true }).waitFor();
  });
});

describe('a blind sample of more results than are read at once', () => {
  it('says how many there are, not how many of the read ones are labelled', async () => {
    await using opened = await own.browser.open(`/console/runs/${run}?sample=blind&n=300&seed=1`);
    const { page, faults } = opened;
    await page.getByText('300 results', { exact: true }).waitFor();
    expect(await page.getByText(/of 300 labelled/).count()).toBe(0);
    expect(faults).toEqual([]);
  });
});

describe('a list of a million results', () => {
  it('is the same list, and says where a longer one ends', async () => {
    for (const total of [1_000_000, 1_000_017]) {
      await using opened = await own.browser.open('/console/settings');
      const { page, faults, requests } = opened;
      // the service has the first ten thousand, which come again and again
      await page.route(/\/results\?/, async (route) => {
        const url = new URL(route.request().url());
        const offset = Number(url.searchParams.get('offset') ?? 0);
        url.searchParams.set('offset', String(offset % ITEMS));
        const response = await route.fetch({ url: url.toString() });
        const body = (await response.json()) as { readonly meta: object };
        await route.fulfill({ response, json: { ...body, meta: { ...body.meta, total_items: total } } });
      });
      await page.goto(`${own.url}/console/runs/${run}`);
      await page.getByText(`${total.toLocaleString('en')} results`, { exact: true }).waitFor();
      const list = page.getByRole('grid', { name: 'Results' });
      const chosen = list.locator('[aria-selected=true]');
      expect(await list.getAttribute('aria-rowcount')).toBe(String(total + 1));
      await focusList(page, 'Results');
      for (const [key, place, id] of [
        ['End', 1_000_000, `q-${ITEMS - 1}`],
        ['ArrowUp', 999_999, `q-${ITEMS - 2}`],
        ['Home', 1, 'q-0'],
      ] as const) {
        await page.keyboard.press(key);
        await page.getByRole('heading', { name: id, exact: true }).waitFor();
        await chosen.getByText(id, { exact: true }).waitFor();
        expect(await chosen.getAttribute('aria-rowindex')).toBe(String(place + 1));
        expect(await list.getByRole('row').count()).toBeLessThan(70);
      }
      expect(requests.filter((request) => request.includes('/results?')).length).toBeLessThanOrEqual(8);
      const end = page.getByText('The list shows the first 1,000,000 of 1,000,017.');
      expect(await end.count()).toBe(total > 1_000_000 ? 1 : 0);
      expect(faults).toEqual([]);
    }
  });
});

describe('other long lists', () => {
  it('reach both ends without what is between them: filtered items', async () => {
    await using opened = await own.browser.open(`/console/datasets/${dataset}?q=word`);
    const { page, faults, requests } = opened;
    const list = page.getByRole('grid', { name: 'Items' });
    await focusList(page, 'Items');
    const before = requests.length;
    for (const [key, end] of [
      ['End', ITEMS - 1],
      ['ArrowUp', ITEMS - 2],
      ['Home', 0],
    ] as const) {
      await page.keyboard.press(key);
      expect(await list.getAttribute('aria-rowcount')).toBe(String(ITEMS + 1));
      await list.locator('[data-current=true]').getByText(`q-${end}`, { exact: true }).waitFor();
    }
    const read = requests.slice(before).filter((request) => request.includes('/items?'));
    expect(read.filter((request) => /offset=|cursor=/.test(request)).length).toBeLessThanOrEqual(6);
    expect(faults).toEqual([]);
  });
});

describe('a report', () => {
  it('holds 10,000 results in less than 5 MB, and needs neither scripts nor a service', async () => {
    await using opened = await own.browser.open(`/console/runs/${run}`);
    const { page, faults } = opened;
    // The list of datasets, which has the name of the run's, comes last.
    await page.route(/\/datasets\?limit=100$/, async (route) => {
      await delay(15_000);
      await route.continue();
    });
    await page.reload();
    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Report (one HTML file)' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('Ten thousand.html');
    const path = `${await download.path()}.html`;
    await download.saveAs(path);
    expect((await stat(path)).size).toBeLessThan(5_000_000);
    expect((await stat(path)).size).toBeGreaterThan(3_000_000);
    expect(await readFile(path, 'utf8')).not.toContain('<script');
    expect(faults).toEqual([]);

    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
    // as long as a busy machine may take
    context?.setDefaultTimeout(90_000);
    const report = await context?.newPage();
    if (report === undefined) throw new Error('The browser opens no page.');
    const requests: string[] = [];
    report.on('request', (request) => requests.push(request.url()));
    await report.goto(`file://${path}`);
    await report.locator('h1', { hasText: 'Ten thousand' }).waitFor();
    // not by text or role of the whole page, which take long where a page has 10,000 rows
    expect(await report.locator('h1 + p').textContent()).toContain('Words');
    await report
      .locator('.chart')
      .getByRole('row', { name: /^group 1 0\.75\d \(0\.7\d\d to 0\.7\d\d\), 3,333 scored$/ })
      .waitFor();
    for (const part of ['Score', 'Outcomes', 'Score by tag'])
      expect(await report.locator('h2', { hasText: part }).count()).toBeGreaterThan(0);
    // no header breaks
    await report.setViewportSize({ width: 1280, height: 900 });
    const heights = await report
      .locator('.cases thead th')
      .evaluateAll((headers) => headers.map((header) => header.clientHeight));
    expect(Math.max(...heights)).toBeLessThan(40);
    const rows = report.locator('.cases tbody tr');
    expect(await report.locator('.cases tr.wrong').count()).toBe(ITEMS / 4);
    expect(await rows.first().getAttribute('class')).toBe('wrong');
    await report
      .locator('p.dim')
      .getByText(/^[\d,]+ of 10,000: what went wrong first\. [\d,]+ are left out/)
      .waitFor();
    expect(requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
    await context?.close();

    // the same with scripts: none runs
    const again = await page.context().newPage();
    await again.goto(`file://${path}`);
    await again.locator('h1', { hasText: 'Ten thousand' }).waitFor();
    expect(await again.evaluate('window.hacked')).toBeUndefined();
  });
});
