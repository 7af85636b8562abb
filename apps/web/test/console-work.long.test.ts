import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { type OwnService, startService } from '../../standalone/test/faults/start-service.ts';
import { type FakeProvider, startFakeProvider } from '../../worker/test/fake-provider.ts';
import { barriersOf, type ConsoleBrowser, focusList, startConsoleBrowser } from './console-browser.ts';

// A console with keys: who may do what, work with runs, long lists, and everything by keyboard.

const KEYS = {
  viewer: 'viewer-key-of-the-tests',
  editor: 'editor-key-of-the-tests',
  admin: 'admin-key-of-the-tests',
} as const;
const CSV = fileURLToPath(new URL('../../../examples/questions.csv', import.meta.url));
const LONG_LIST = 5_000;

const cleanUp = new AsyncDisposableStack();
let own: OwnService;
let url: string;
let hub: FakeHub;
let provider: FakeProvider;
let browser: ConsoleBrowser;
let numbers: string;

beforeAll(async () => {
  hub = await startFakeHub();
  cleanUp.defer(() => hub.close());
  const rows = Array.from({ length: 120 }, (_, row) =>
    JSON.stringify({ question: `What is ${row} + ${row}?`, answer: `#### ${2 * row}`, level: row % 3 }),
  );
  hub.add({ id: 'org/sums', files: { 'train.jsonl': `${rows.join('\n')}\n` } });
  provider = cleanUp.use(
    await startFakeProvider((prompt, attempt) => {
      if (prompt.startsWith('Wait')) return 'hang';
      if (prompt === 'Question 3?' && attempt === 1) return { status: 400 };
      return { text: prompt === 'Question 4?' ? 'It is 4.' : (/\d+/.exec(prompt)?.[0] ?? '') };
    }),
  );
  const keys = Object.entries(KEYS).map(([role, key]) => `${role}:${key}`);
  own = cleanUp.use(
    await startService({ HUB_ENDPOINT: hub.endpoint, SVC_API_KEYS: keys.join(',') }, 'standalone'),
  );
  url = own.service.url;
  browser = cleanUp.use(await startConsoleBrowser(url));
  const items = Array.from({ length: 12 }, (_, at) => ({
    id: `q${at}`,
    type: 'exact',
    inputs: { prompt: `Question ${at}?` },
    answer: String(at),
  }));
  numbers = await upload(items, 'Numbers');
});
afterAll(() => cleanUp.disposeAsync());

/** Comes back to a page whose data is old, until it shows what must follow: a response under way is not asked for twice. */
async function lookAgain(page: Page, sign: Locator): Promise<void> {
  const look = async (): Promise<boolean> => {
    await page.clock.fastForward(20_000);
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    return await sign.isVisible();
  };
  await expect.poll(look, { timeout: 90_000, interval: 500 }).toBe(true);
}

/** Calls the API past the browser. */
async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const isForm = body instanceof FormData;
  const response = await fetch(url + path, {
    method,
    headers: {
      Authorization: `Bearer ${KEYS.admin}`,
      ...(isForm || body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  expect([path, response.ok]).toEqual([path, true]);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

async function upload(items: readonly object[], name: string): Promise<string> {
  const archive = await makePackage({
    'sections/all.jsonl': items.map((item) => JSON.stringify(item)).join('\n'),
  });
  return (await call<{ id: string }>('POST', '/datasets/upload', uploadForm(archive, { name }))).id;
}

/** Presses Tab until an element has the focus. */
async function tabTo(target: Locator): Promise<void> {
  await target.waitFor({ state: 'attached' });
  for (let presses = 0; presses < 300; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await target.page().keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${target}.`);
}

async function press(target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(target);
  await target.page().keyboard.press(key);
}

/** Chooses the first row of a list. */
async function pressInList(page: Page, name: string): Promise<void> {
  const list = page.getByRole('grid', { name });
  await list.getByRole('row').nth(1).waitFor();
  await press(list, 'ArrowDown');
}

describe('the console of a service with keys', () => {
  it('says that the connection is lost, recovers, and refreshes what is old', async () => {
    await using opened = await browser.open('/console/datasets', { key: KEYS.admin, hasClock: true });
    const { page, faults } = opened;
    await page.getByRole('link', { name: 'Numbers', exact: true }).waitFor();
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Items' }).click();
    const banner = page
      .getByRole('alert')
      .getByText('The service does not respond.', { exact: false })
      .first();
    await banner.waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    const id = await upload([{ id: 1 }], 'Added in the dark');
    await page.context().setOffline(false);
    await page.clock.fastForward(5_000);
    await banner.waitFor({ state: 'hidden' });
    const added = page.getByRole('link', { name: 'Added in the dark' });
    await added.waitFor();
    await call('DELETE', `/datasets/${id}`);
    await page.clock.fastForward(20_000);
    await added.waitFor({ state: 'hidden' });
    expect(faults.filter((fault) => !fault.includes('net::ERR_'))).toEqual([]);
  });

  it('keeps what is typed while the session has ended, and while a proxy answers for the service', async () => {
    const path = `/console/datasets/${numbers}`;
    await using opened = await browser.open(path, { key: KEYS.editor, hasClock: true });
    const { page, faults } = opened;
    await page.getByRole('row').nth(1).click();
    await page.getByRole('button', { name: 'Edit item' }).click();
    const prompt = page.getByRole('group', { name: 'Edit the item' }).getByLabel('Prompt');
    await prompt.fill('Typed before');
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    const banner = page.getByRole('alert').getByText('The service does not respond.', { exact: false });
    await page.context().clearCookies();
    await lookAgain(page, dialog);
    await dialog.getByLabel(/^Key/).fill(KEYS.editor);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    expect(await prompt.inputValue()).toBe('Typed before');
    await page.route(/:\d+\/(?!console)/, (route) =>
      route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' }),
    );
    await lookAgain(page, banner);
    expect(await prompt.inputValue()).toBe('Typed before');
    await page.unroute(/:\d+\/(?!console)/);
    await page.clock.fastForward(5_000);
    await banner.waitFor({ state: 'hidden' });
    expect(await prompt.inputValue()).toBe('Typed before');
    expect(faults).toEqual([]);
  });

  it('keeps what it has read in view while the connection is lost', async () => {
    const path = `/console/datasets/${numbers}`;
    await using opened = await browser.open(path, { key: KEYS.admin, hasClock: true });
    const { page } = opened;
    const first = page.getByRole('grid').getByRole('row').nth(1);
    await first.waitFor();
    await page.context().setOffline(true);
    const banner = page.getByRole('alert').getByText('The service does not respond.', { exact: false });
    await lookAgain(page, banner.first());
    await page.getByRole('heading', { level: 1, name: 'Numbers' }).waitFor();
    expect(await first.isVisible()).toBe(true);
    expect(await page.getByRole('alert').count()).toBe(1);
  });

  it('says that the status is unknown while the service does not respond', async () => {
    await using opened = await browser.open('/console/status', { key: KEYS.admin, hasClock: true });
    const { page } = opened;
    const badge = page.getByRole('status');
    await badge.getByText('ready', { exact: true }).waitFor();
    await page.context().setOffline(true);
    const banner = page.getByRole('alert').getByText('The service does not respond.', { exact: false });
    await lookAgain(page, banner);
    // the other read is tried again before it has failed
    for (let step = 0; step < 5; step += 1) await page.clock.fastForward(2_000);
    await badge.getByText('unknown', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await banner.isVisible()).toBe(true);
  });

  it('says of no list that it could not read that nothing is new', async () => {
    await using opened = await browser.open('/console/settings', { key: KEYS.admin });
    const { page } = opened;
    await page.route(/\/runs\?/, (route) => route.fulfill({ status: 500 }));
    await page.goto(`${url}/console`);
    const runs = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Runs' }) });
    await runs.getByRole('alert').waitFor();
    expect(await runs.getByText('Nothing new.').count()).toBe(0);
  });

  it('uploads a file that is dropped on any page', async () => {
    await using opened = await browser.open('/console/runs', { key: KEYS.editor });
    const { page, faults } = opened;
    const dataTransfer = await page.evaluateHandle(
      `(() => { const data = new DataTransfer();
        data.items.add(new File(['{"id":1,"inputs":{"prompt":"One?"}}\\n'], 'dropped.jsonl')); return data; })()`,
    );
    await page.dispatchEvent('body', 'dragover', { dataTransfer });
    await page.getByText('Drop to upload').waitFor();
    await page.dispatchEvent('body', 'drop', { dataTransfer });
    await page.getByText('dropped.jsonl').waitFor();
    await page.getByText('default (1)').waitFor();
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText('The hash is the one that the browser computed.').waitFor();
    expect(faults).toEqual([]);
  });

  it('starts a run with a judge, renames, retries, scores again, exports and deletes it', async () => {
    await using opened = await browser.open(`/console/runs/new?dataset=${numbers}`, { key: KEYS.editor });
    const { page, faults } = opened;
    const found: string[] = [];
    const provide = async (within: Locator, model: string): Promise<void> => {
      await within.getByLabel('Base URL').fill(provider.baseUrl);
      await within.getByLabel(/^Model/).fill(model);
    };
    const model = page.getByRole('group', { name: 'Provider' });
    await provide(model, 'small-1');
    await model.getByRole('button', { name: 'More parameters' }).click();
    const [params, query, headers] = ['Parameters', 'Query parameters', 'Headers'].map((name) =>
      model.getByLabel(name, { exact: true }),
    ) as [Locator, Locator, Locator];
    await params.fill('{"seed": 9007199254740993,\n "top_p" 0.9}');
    await model.getByText('(line 2, column 10)').waitFor();
    await query.fill('version=1\nstage test');
    await model.getByText('Line 2 must be name=value, got "stage test".').waitFor();
    await headers.fill('x-team');
    await model.getByText('Line 1 must be name: value, got "x-team".').waitFor();
    expect(await page.getByRole('button', { name: 'Run on all' }).isDisabled()).toBe(true);
    found.push(...(await barriersOf(page)));
    await params.fill('{"seed": 9007199254740993,\n "top_p": 0.9}');
    await query.fill('version=1\n\nstage=test');
    await headers.fill('x-team: tests');
    await page.getByRole('button', { name: 'Which items' }).click();
    await page.getByLabel('First items').fill('8');
    await page.getByLabel('System prompt').fill('Be brief.');
    await page.getByRole('button', { name: 'Scoring' }).click();
    await page.getByLabel('Let a model judge').click({ force: true });
    await provide(page.getByRole('group', { name: 'Judge' }), 'judge-1');
    await page.getByLabel('Input price of the judge').fill('0.5');
    await page.getByRole('button', { name: 'Repetitions, pace and price' }).click();
    await page.getByLabel('Requests per minute').fill('60000');
    await page.getByLabel('Price of output').fill('10');
    await page.getByText('8 can be scored').waitFor();
    found.push(...(await barriersOf(page)));
    await page.getByRole('button', { name: 'Run on all' }).click();
    await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/);
    const id = page.url().split('/').at(-1) ?? '';
    await page.getByText('completed').waitFor();
    await page.getByRole('heading', { name: `small-1 #${id.slice(-4)}` }).waitFor();
    const asStored = await (await page.request.get(`${url}/runs/${id}`)).text();
    expect(asStored).toContain('"params":{"seed":9007199254740993,"top_p":0.9}');
    const { config } = JSON.parse(asStored) as { readonly config: object };
    expect(config).toMatchObject({
      provider: {
        type: 'openai_compatible',
        base_url: provider.baseUrl,
        model: 'small-1',
        query: { version: '1', stage: 'test' },
        extra_headers: { 'x-team': 'tests' },
      },
      judge: {
        base_url: provider.baseUrl,
        model: 'judge-1',
        price: { input_per_million: 0.5, output_per_million: 0, currency: 'USD' },
      },
      select: { limit: 8 },
      system_prompt: 'Be brief.',
      requests_per_minute: 60_000,
      price: { input_per_million: 0, output_per_million: 10, currency: 'USD' },
    });

    const factOf = (name: string): Locator =>
      page
        .locator('dl > *')
        .filter({ has: page.locator('dt', { hasText: name }) })
        .locator('dd');
    const choose = async (menu: string, entry: string | RegExp): Promise<void> => {
      await page.getByRole('button', { name: menu, exact: true }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    };
    await expect.poll(() => factOf('No answer').textContent()).toBe('1');
    await page.getByRole('button', { name: 'Again' }).click();
    await page.getByRole('menuitem', { name: 'Score again…' }).waitFor();
    found.push(...(await barriersOf(page)));
    await page.getByRole('menuitem', { name: 'Retry failed results (1)' }).click();
    await expect.poll(() => factOf('No answer').textContent()).toBe('0');
    await page.getByText('completed').waitFor();

    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('dialog').getByLabel('Name').waitFor();
    found.push(...(await barriersOf(page)));
    await page.getByRole('dialog').getByLabel('Name').fill('Attempt one');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Attempt one' }).waitFor();
    await expect.poll(() => factOf('Right').textContent()).toBe('7');

    await choose('Again', 'Score again…');
    const dialog = page.getByRole('dialog', { name: 'Score again' });
    await dialog.getByRole('combobox', { name: 'Checker' }).click();
    await page.getByRole('option', { name: 'includes' }).click();
    // not the name of the run whose outputs it has
    expect(await dialog.getByLabel('Name of the new run').inputValue()).toBe('Attempt one (2)');
    await dialog.getByLabel('Name of the new run').fill('Scored again');
    found.push(...(await barriersOf(page)));
    await dialog.getByRole('button', { name: 'Score again' }).click();
    await page.getByRole('heading', { name: 'Scored again' }).waitFor();
    await page.getByText('completed').waitFor();
    await expect.poll(() => factOf('Right').textContent()).toBe('8');
    const again = page.url().split('/').at(-1) ?? '';

    const downloading = page.waitForEvent('download');
    await choose('Export', /^Scores and outputs as CSV$/);
    const download = await downloading;
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^section,order_index,item_id,/);

    const echo = await call<{ id: string }>('POST', '/runs', {
      dataset_id: numbers,
      config: { provider: { type: 'echo' } },
    });
    await expect
      .poll(async () => (await call<{ status: string }>('GET', `/runs/${echo.id}`)).status)
      .toBe('completed');
    await page.goto(`${url}/console/compare?runs=${id},${again},${echo.id}`);
    const table = page.getByRole('region', { name: 'Differences' });
    await table.getByRole('row', { name: /^Scored again Numbers 1\.000 \+0\.125/ }).waitFor();
    await table.getByRole('row', { name: /^Echo #\w{4} Numbers 0\.000 −0\.875/ }).waitFor();
    await table.getByRole('button', { name: /^Items of Echo/ }).click();
    await focusList(page, 'Items that differ');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const outputs = page.getByRole('region', { name: 'Difference' });
    await outputs.getByRole('heading', { name: /^Scored again: 1\.000/ }).waitFor();
    await outputs.locator('ins').first().waitFor();
    found.push(...(await barriersOf(page)));
    // until the outputs of the next item are read, those of the former are not in its place
    const held = Promise.withResolvers<void>();
    await page.route(/\/results\?.*item_hash=/, async (request) => {
      await held.promise;
      await request.continue();
    });
    await page.getByRole('button', { name: 'Next', exact: true }).click();
    await outputs.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await outputs.locator('pre').count()).toBe(0);
    held.resolve();
    await outputs.locator('ins').first().waitFor();

    // the list tells it from the run whose outputs it has
    await page.goto(`${url}/console/runs`);
    await page.getByRole('row', { name: /Choose Scored again Scored again scored again / }).waitFor();
    await page.goto(`${url}/console/runs/${again}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type the name to confirm').fill('Scored again');
    found.push(...(await barriersOf(page)));
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.waitForURL(/\/console\/runs$/);
    await page.getByRole('link', { name: 'Attempt one' }).waitFor();
    expect(await page.getByRole('link', { name: 'Scored again' }).count()).toBe(0);
    expect([...found, ...faults]).toEqual([]);
  });

  it('follows a run that works, and cancels it', async () => {
    const waiting = await upload(
      [{ id: 1, inputs: { prompt: 'Wait for me.' }, answer: 'x', type: 'exact' }],
      'W',
    );
    const { id } = await call<{ id: string }>('POST', '/runs', {
      dataset_id: waiting,
      config: { provider: { type: 'openai_compatible', base_url: provider.baseUrl, model: 'm' } },
    });
    await using opened = await browser.open(`/console/runs/${id}`, { key: KEYS.editor });
    const { page, faults } = opened;
    await page.getByRole('progressbar', { name: 'Progress of the run' }).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('cancelled').waitFor();
    await page.getByRole('button', { name: 'Again' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows a list of any length with few rows in the page and few requests', async () => {
    const items = Array.from({ length: LONG_LIST }, (_, at) => ({
      id: `n${at}`,
      inputs: { prompt: `P ${at}` },
    }));
    const id = await upload(items, 'Long');
    await using opened = await browser.open(`/console/datasets/${id}`, { key: KEYS.viewer });
    const { page, faults, requests } = opened;
    const reads = (): string[] => requests.filter((request) => /\/items\?.*offset=/.test(request));
    const list = page.getByRole('grid', { name: 'Items' });
    await list.getByText('P 0', { exact: true }).waitFor();
    await list.focus();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: `n${LONG_LIST - 1}`, exact: true }).waitFor();
    await list.getByText(`P ${LONG_LIST - 1}`).waitFor();
    // nothing between the two ends was read
    expect(reads().length).toBeLessThanOrEqual(4);
    expect(await list.getByRole('row').count()).toBeLessThan(60);
    await page.keyboard.press('Home');
    await list.getByText('P 0', { exact: true }).waitFor();
    // what is far away is not kept
    expect(reads().filter((request) => /offset=0&/.test(request))).toHaveLength(2);
    // another column shows the same rows
    const top = (): Promise<number> => list.evaluate(({ parentElement }) => parentElement?.scrollTop ?? 0);
    await list.evaluate(({ parentElement }) => parentElement?.scrollTo(0, 20_000));
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Section' }).click();
    await list.getByRole('columnheader', { name: 'Section' }).waitFor();
    expect(await top()).toBe(20_000);
    expect(faults).toEqual([]);
  });

  it('imports, filters, runs, compares, uploads and deletes by keyboard alone', async () => {
    await using opened = await browser.open('/console/datasets', { key: KEYS.admin });
    const { page, faults } = opened;
    const { keyboard } = page;
    await byKeyboard(page);
    await page.getByRole('heading', { name: 'sums', exact: true }).waitFor();

    await tabTo(page.getByLabel('Search items'));
    await keyboard.type('7 + 7');
    await page.getByText('2 items').waitFor();
    await press(page.getByRole('button', { name: 'Clear' }));
    await page.getByText('120 items', { exact: true }).last().waitFor();
    await pressInList(page, 'Items');
    await page.getByRole('heading', { name: 'train-0' }).waitFor();

    const ids: string[] = [];
    for (const steps of [2, 3]) {
      await press(page.getByRole('link', { name: 'New run' }));
      await tabTo(page.getByRole('radio', { name: 'OpenAI-compatible' }));
      for (let step = 0; step < steps; step += 1) await keyboard.press('ArrowRight');
      await page.getByText('120 can be scored').waitFor();
      await press(page.getByRole('button', { name: 'Run on all' }));
      await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/);
      await page.getByText('completed').waitFor();
      ids.push(page.url().split('/').at(-1) ?? '');
      await tabTo(page.getByRole('link', { name: 'sums', exact: true }));
      if (steps === 2) await keyboard.press('Enter');
    }
    await press(page.getByRole('main').getByRole('link', { name: 'Compare' }));
    await tabTo(page.getByRole('combobox', { name: 'Runs' }));
    await keyboard.type('Answers');
    await page.getByRole('option', { name: `Answers in the items #${ids[0]?.slice(-4)}` }).waitFor();
    await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await pressInList(page, 'Items that differ');
    await keyboard.press('Enter');
    await page.locator('del').first().waitFor();
    await keyboard.press('Escape');

    const choosing = page.waitForEvent('filechooser');
    await press(page.getByRole('link', { name: 'Upload', exact: true }));
    await press(page.getByRole('button', { name: 'Choose files' }));
    await (await choosing).setFiles(CSV);
    await tabTo(page.getByRole('combobox', { name: 'Type of item' }));
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await keyboard.press(key);
    await press(page.getByRole('button', { name: 'Upload', exact: true }));
    await page.getByText('Stored 3 items').waitFor();
    await press(page.getByRole('link', { name: 'Open the dataset' }));
    await press(page.getByRole('button', { name: 'Delete' }));
    await page.getByLabel('Type the name to confirm').waitFor();
    await tabTo(page.getByLabel('Type the name to confirm'));
    await keyboard.type('questions');
    await keyboard.press('Enter');
    await page.waitForURL(/\/console\/datasets$/);

    await press(page.getByRole('link', { name: 'Settings' }));
    await press(page.getByRole('button', { name: 'Take the tour again' }));
    await press(page.getByRole('button', { name: 'Take the tour', exact: true }));
    for (const step of ['2 of 4', '3 of 4', '4 of 4']) {
      await press(page.getByRole('button', { name: 'Skip this step' }));
      await page.getByText(step).waitFor();
    }
    await press(page.getByRole('button', { name: 'Done' }));
    expect(faults).toEqual([]);
  });
});

/** From the list of datasets to an imported one. */
async function byKeyboard(page: Page): Promise<void> {
  await press(page.getByRole('link', { name: 'Hub import' }));
  await tabTo(page.getByRole('combobox', { name: 'Dataset', exact: true }));
  await page.keyboard.type('org/sums');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'train-0' }).waitFor();
  await press(page.getByRole('button', { name: 'Check every row' }));
  await page.getByText('120 items, no invalid row').waitFor();
  await press(page.getByRole('button', { name: 'Import', exact: true }));
  await press(page.getByRole('link', { name: 'Open the dataset' }));
}
