import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { makePackage, uploadForm } from '../../api/test/make-package.ts';
import { type OwnService, startService } from '../../standalone/test/faults/start-service.ts';
import { type FakeProvider, startFakeProvider } from '../../worker/test/fake-provider.ts';
import {
  barriersOf,
  type ConsoleBrowser,
  countClicks,
  focusList,
  overflowOf,
  startConsoleBrowser,
} from './console-browser.ts';

/** Own questions, whose columns no suggestion knows by their names. */
const CSV = [
  'qid,frage,gold,topic,difficulty,source_url,rationale',
  ...Array.from({ length: 500 }, (_, row) =>
    [
      `q-${row},Was ist ${row} + ${row}?,${2 * row}`,
      `${['sums', 'books'][row % 2]},${row % 5},https://example.org/${row},Grund ${row}`,
    ].join(','),
  ),
].join('\n');

/** Wrong for every fifth question, for every tenth where it is asked to be careful. */
function reply(prompt: string) {
  const number = Number(/(\d+) \+/.exec(prompt)?.[1] ?? 0);
  const isWrong = number % (prompt.includes('genau') ? 10 : 5) === 0;
  return { text: `Die Antwort ist ${isWrong ? number + 1 : 2 * number}.` };
}

const cleanUp = new AsyncDisposableStack();
let own: OwnService;
let url: string;
let hub: FakeHub;
let browser: ConsoleBrowser;
let provider: FakeProvider;
const ids: Record<string, string> = {};

beforeAll(async () => {
  hub = await startFakeHub();
  cleanUp.defer(() => hub.close());
  const rows = Array.from({ length: 120 }, (_, row) =>
    JSON.stringify({
      question: `What is ${row} + ${row}?`,
      answer: `Twice ${row}\n#### ${2 * row}`,
      level: row % 3,
    }),
  );
  hub.add({ id: 'org/sums', files: { 'train.jsonl': `${rows.join('\n')}\n`, 'test.jsonl': `${rows[1]}\n` } });
  // as MMLU: many subsets, none of them the default, without a split to train on
  const subjects = ['algebra', 'biology', 'chess'];
  const configs = subjects.map(
    (name) => `- config_name: ${name}\n  data_files:\n  - split: test\n    path: ${name}.jsonl\n`,
  );
  hub.add({
    id: 'org/exams',
    files: {
      'README.md': `---\nconfigs:\n${configs.join('')}---\n`,
      ...Object.fromEntries(
        subjects.map((name) => [`${name}.jsonl`, JSON.stringify({ question: `Of ${name}?`, answer: 'yes' })]),
      ),
    },
  });
  provider = cleanUp.use(await startFakeProvider(reply));
  own = cleanUp.use(await startService({ HUB_ENDPOINT: hub.endpoint }, 'standalone'));
  url = own.service.url;
  browser = cleanUp.use(await startConsoleBrowser(url));
});
afterAll(() => cleanUp.disposeAsync());

async function upload(files: Readonly<Record<string, string | Uint8Array>>, name: string): Promise<string> {
  const form = uploadForm(await makePackage(files), { name });
  const response = await fetch(`${url}/datasets/upload`, { method: 'POST', body: form });
  const body = (await response.json()) as { id: string };
  expect([response.status, body]).toEqual([201, expect.anything()]);
  return body.id;
}

/** Where the long form leaves pictures of every page, to be looked at. */
const PICTURES = join(tmpdir(), 'svc-pictures');

async function takePictures(page: Page, path: string): Promise<void> {
  const name = path
    .replaceAll(/[0-9a-f-]{36}/g, 'id')
    .replaceAll(/[^\w=]+/g, '-')
    .slice(1);
  for (const [width, height, colorScheme] of [
    [1366, 768, 'dark'],
    [1366, 768, 'light'],
    [900, 768, 'light'],
    [390, 844, 'light'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
  }
}

describe('the console', () => {
  it('leads from nothing to a scored and compared run of 500 own questions, with all columns, in 20 clicks at most', async () => {
    await using opened = await browser.open('/', { hasSeenTour: false });
    const { page, faults } = opened;
    const clicks = await countClicks(page);
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('link', { name: 'Upload a file' }).click();
    await page.getByRole('button', { name: 'Choose files' }).click();
    await (await choosing).setFiles({ name: 'fragen.csv', mimeType: 'text/csv', buffer: Buffer.from(CSV) });
    await page.getByRole('region', { name: 'First rows' }).getByText('Was ist 6 + 6?').waitFor();
    const mapping = page.getByRole('group', { name: 'Mapping' });
    await page.getByText('CSV, 500 rows', { exact: true }).waitFor();
    const send = page.getByRole('button', { name: 'Upload', exact: true });
    // the only column with texts
    expect(await mapping.getByRole('combobox', { name: 'Prompt', exact: true }).inputValue()).toBe('frage');
    expect(await mapping.getByRole('combobox', { name: 'Answer', exact: true }).inputValue()).toBe('gold');
    // the answers are numbers
    expect(await mapping.getByRole('combobox', { name: 'Type of item' }).inputValue()).toBe('numeric');
    const preview = page.getByRole('region', { name: 'Item preview' });
    await preview.getByText('numeric', { exact: true }).waitFor();
    await send.click();
    await page.getByText('Stored 500 items').waitFor();
    await page.getByRole('link', { name: 'Run it' }).click();
    await page.getByRole('combobox', { name: 'Base URL' }).fill(provider.baseUrl);
    await page.getByRole('combobox', { name: 'Model', exact: true }).fill('weak-1');
    await page.getByText('500 can be scored').waitFor();
    const start = async (score: string): Promise<string> => {
      await page.getByRole('button', { name: 'Run on all' }).click();
      await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/);
      await page.getByText('completed').waitFor();
      await page.getByText(score).first().waitFor();
      return page.url().split('/').at(-1) ?? '';
    };
    const before = await start('80.0 % of 500');
    let count = await clicks();
    // the same run with another prompt, tried on three items first
    await page.getByRole('link', { name: 'Copy run' }).click();
    const template = page.getByLabel('Prompt template');
    await template.click();
    await template.fill('Rechne genau: {prompt}');
    await page.getByText('500 can be scored').waitFor();
    await page.keyboard.press('Control+Enter');
    const trial = page.getByRole('region', { name: 'Trial' });
    await trial
      .getByRole('heading', { name: /^q-\d+$/ })
      .nth(2)
      .waitFor();
    await trial
      .getByText(/^Was ist \d+ \+ \d+\?$/)
      .first()
      .waitFor();
    const tried = await clicks();
    expect(tried).toBe(2);
    const after = await start('90.0 % of 500');
    await page.getByRole('link', { name: 'Compare', exact: true }).last().click();
    await page.getByRole('combobox', { name: 'Runs' }).click();
    await page.getByRole('option', { name: /0\.800/ }).click();
    await page
      .getByRole('status')
      .getByText(/is worse by 10\.0 points, 95 % CI .*, 500 items, against /)
      .waitFor();
    count += tried + (await clicks());
    expect(count).toBeGreaterThan(7);
    expect(count).toBeLessThanOrEqual(20);
    await page.goto(`${url}/console/datasets?source=file`);
    const id = (await page.getByRole('link', { name: 'fragen', exact: true }).getAttribute('href'))
      ?.split('/')
      .at(-1);
    const items = await fetch(`${url}/datasets/${id}/items?limit=1`);
    const { data } = (await items.json()) as { data: { item: object }[] };
    expect(data[0]?.item).toEqual({
      id: 'q-0',
      type: 'numeric',
      inputs: { prompt: 'Was ist 0 + 0?' },
      answer: expect.anything(),
      meta: {
        topic: 'sums',
        difficulty: expect.anything(),
        source_url: 'https://example.org/0',
        rationale: 'Grund 0',
      },
    });
    expect(faults).toEqual([]);
    // the next test begins with nothing as well
    for (const path of [`runs/${before}`, `runs/${after}`, `datasets/${id}`])
      expect((await fetch(`${url}/${path}`, { method: 'DELETE' })).status).toBe(204);
  });

  it('leads from nothing to an item of the example, by keyboard alone', async () => {
    await using opened = await browser.open('/');
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Add the example' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/console\/datasets\/[0-9a-f-]{36}/);
    ids['example'] = page.url().split('/').at(-1)?.split('?')[0] ?? '';
    await focusList(page, 'Items');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 'af-1' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: 'eu-4' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('heading', { name: 'eu-3' }).waitFor();
    expect(page.url()).toMatch(/item=[0-9a-f]{64}$/);
    // what is in the address is there again
    await page.reload();
    await page.getByRole('heading', { name: 'eu-3' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('filters, shows exact numbers, edits, compares and deletes a dataset', async () => {
    const lines = Array.from({ length: 400 }, (_, at) =>
      JSON.stringify({
        id: `n${at}`,
        type: at % 2 === 0 ? 'numeric' : 'exact',
        tags: [`t${at % 4}`],
        inputs: { prompt: `Number **${at}**` },
        answer: at,
      }),
    );
    const item = '{"id":"big","inputs":{"prompt":"Digits"},"answer":12345678901234567890.123}';
    const id = await upload({ 'sections/numbers.jsonl': [item, ...lines].join('\n') }, 'Numbers');
    await fetch(`${url}/datasets/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ description: `Numbers **of all kinds**.\n\n- ${'even\n- '.repeat(9)}odd` }),
    });
    await using opened = await browser.open(`/console/datasets/${id}?item=0-0`);
    const { page, faults } = opened;
    // a long description is Markdown too, and folded
    await page.locator('strong').getByText('of all kinds').waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('button', { name: 'Less', exact: true }).click();
    await page.getByRole('region', { name: 'Item' }).getByText('12345678901234567890.123').waitFor();
    await page.getByText('Exact JSON').click();
    await page.getByText('"answer": 12345678901234567890.123').waitFor();
    await page.getByRole('combobox', { name: 'Tag' }).fill('t3');
    await page.getByText('100 items').waitFor();
    await page.getByLabel('Search items').fill('**399**');
    await page.getByText('1 item', { exact: true }).waitFor();
    expect(page.url()).toMatch(/q=.*tag=t3|tag=t3.*q=/);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByText('All 401 items, without the filters').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByText('Length of prompts, in characters').first().waitFor();
    await page.getByRole('tab', { name: 'Provenance' }).click();
    await page.getByRole('row', { name: 'Source package' }).waitFor();
    await page.getByText('All of it, as JSON').click();
    await page.getByText('"source": "pkg_zip"').waitFor();
    await page.getByRole('tab', { name: 'Compare with…' }).click();
    await page.getByRole('combobox', { name: 'Other dataset' }).click();
    await page.getByRole('option', { name: /Capitals/ }).click();
    await page.getByText('added (7)').waitFor();

    // a page that came over plain HTTP has no clipboard
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.addEventListener('copy', () => { window.copied = String(document.activeElement.value); })`);
    await page.getByRole('button', { name: 'Copy dataset id' }).click();
    await expect.poll(() => page.evaluate('window.copied')).toBe(id);

    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem').first().waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('dialog').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByLabel('Name', { exact: false }).first().fill('Numbers of all kinds');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Numbers of all kinds' }).waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel('Type the name to confirm').fill('Numbers of all kinds');
    await page.getByRole('button', { name: 'Delete for good' }).click();
    await page.waitForURL(/\/console\/datasets$/);
    expect((await fetch(`${url}/datasets/${id}`)).status).toBe(404);
    expect(faults).toEqual([]);
  });

  it('previews, maps, checks and imports a dataset of the hub', async () => {
    await using opened = await browser.open('/console/import');
    const { page, faults } = opened;
    await page.getByRole('combobox', { name: 'Dataset' }).fill(`${hub.endpoint}/datasets/org/sums`);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'First rows' }).getByText('What is 0 + 0?').waitFor();
    await page.getByText(/^Item 1 of \d+$/).waitFor();
    await page.getByRole('heading', { name: 'train-0' }).waitFor();
    await page.getByRole('button', { name: 'Next row' }).click();
    await page.getByRole('heading', { name: 'train-1' }).waitFor();
    await page.getByRole('button', { name: 'Check every row' }).click();
    const checked = page.getByText('120 items, no invalid row');
    await checked.waitFor();
    // which says nothing of other rows
    for (const slice of ['train[:5]', 'train']) {
      await page.getByRole('textbox', { name: 'Slice' }).fill(slice);
      await page.keyboard.press('Enter');
      await checked.waitFor({ state: 'hidden' });
    }
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const card = page.getByRole('status').filter({ hasText: 'Stored 120 items' });
    const next = card.getByRole('link', { name: 'Open the dataset' });
    await next.waitFor();
    await card.getByRole('link', { name: 'Run it' }).waitFor();
    // the next step is in the window
    const box = await next.boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect((box?.y ?? 9_999) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
    await next.click();
    await page.getByRole('heading', { name: 'sums' }).waitFor();
    ids['hub'] = page.url().split('/').at(-1) ?? '';
    await page.goto(`${url}/console/jobs`);
    await page.getByText('succeeded').first().waitFor();

    // all subsets in 3 clicks
    await page.goto(`${url}/console/import`);
    const clicks = await countClicks(page);
    await page.getByRole('combobox', { name: 'Dataset' }).fill('org/exams');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Or all of them' }).click();
    await page.getByRole('option', { name: 'All 3, each a section' }).click();
    await page.getByRole('region', { name: 'First rows' }).getByText('Of algebra?').waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const opening = page.getByRole('link', { name: 'Open the dataset' });
    await opening.waitFor();
    expect(await clicks()).toBe(3);
    const all = new URL((await opening.getAttribute('href')) ?? '', url).pathname.split('/').at(-1);
    const imported = await fetch(`${url}/datasets/${all}`);
    expect(await imported.json()).toMatchObject({
      item_count: 3,
      sections: [{ name: 'algebra' }, { name: 'biology' }, { name: 'chess' }],
    });
    await fetch(`${url}/datasets/${all}`, { method: 'DELETE' });
    expect(faults).toEqual([]);
  });

  it('opens a package before it is sent, and shows errors with their places', async () => {
    await using opened = await browser.open('/console/upload');
    const { page, faults, requests } = opened;
    const file = (name: string, bytes: Uint8Array): { name: string; mimeType: string; buffer: Buffer } => {
      return { name, mimeType: 'application/zip', buffer: Buffer.from(bytes) };
    };
    const bad = await makePackage({ 'sections/a.jsonl': '{"id":1}\n{"id":2,}' });
    await page.getByLabel('Files').setInputFiles(file('bad.pkg.zip', bad));
    await page.getByText('sections/a.jsonl:2:9').waitFor();
    await page.getByRole('button', { name: 'Choose another file' }).click();
    const lines = ['{"id":1,"inputs":{"prompt":"One?"}}', '{"id":2,}', '[3]', '{"id":null}', '{"id":5'];
    await page.getByLabel('Files').setInputFiles(file('bad.jsonl', Buffer.from(lines.join('\n'))));
    for (const place of ['2:9', '3:1', '4:7', '5:8']) await page.getByText(`bad.jsonl:${place}`).waitFor();
    await page.getByRole('button', { name: 'Upload anyway', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Choose another file' }).click();
    const good = await makePackage({ 'sections/a.jsonl': '{"id":1,"inputs":{"prompt":"One?"}}\n{"id":2}' });
    await page.getByLabel('Files').setInputFiles(file('good.pkg.zip', good));
    await page.getByText('a (2)').waitFor();
    expect(requests.filter((request) => request.startsWith('POST'))).toEqual([]);
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByText('The hash is the one that the browser computed.').waitFor();
    await page.getByRole('button', { name: 'Choose another file' }).click();
    const old = await makePackage({ 'items.jsonl': '{"id":"old","prompt":"One?","answer":"1"}\n' });
    await page.getByLabel('Files').setInputFiles(file('old.zip', old));
    await page.getByRole('button', { name: 'Convert and upload' }).click();
    await page.getByText('Stored 1 item', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('runs a dataset with a plan, shows its scores, and compares it with another run', async () => {
    const start = async (provider: object): Promise<string> => {
      const response = await fetch(`${url}/runs`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ dataset_id: ids['hub'], name: 'A trial', config: { provider } }),
      });
      return ((await response.json()) as { id: string }).id;
    };
    ids['otherRun'] = await start({ type: 'echo' });
    await using opened = await browser.open(`/console/runs/new?dataset=${ids['hub']}`);
    const { page, faults } = opened;
    await page.getByText('Answers in the items').click();
    await page.getByText('120 can be scored').waitFor();
    await page.getByRole('button', { name: 'Run on all' }).click();
    await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/);
    ids['run'] = page.url().split('/').at(-1) ?? '';
    await page.getByText('completed').waitFor();
    await page.getByText('100.0 %').waitFor();
    await focusList(page, 'Results');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 'Output' }).waitFor();
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    await pane.getByText('train-0', { exact: true }).first().waitFor();
    // a laptop's window is the table's: 18 whole rows below their headings, and nothing else scrolls
    await page.setViewportSize({ width: 1366, height: 768 });
    await expect
      .poll(() =>
        page.evaluate(`(() => {
          const { top, bottom } = document.querySelector('.data-table').getBoundingClientRect();
          const from = top + document.querySelector('.data-table thead').clientHeight;
          const boxes = [...document.querySelectorAll('.data-table tr[data-index]')].map((row) => row.getBoundingClientRect());
          const { scrollHeight, clientHeight } = document.documentElement;
          return scrollHeight === clientHeight && boxes.filter((box) => box.top >= from - 1 && box.bottom <= bottom).length;
        })()`),
      )
      .toBeGreaterThanOrEqual(18);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.locator('figure svg').first().waitFor();
    // an address of a result that is not among those of the first page
    const late = await fetch(`${url}/datasets/${ids['hub']}/items?item_id=train-110`);
    const { data } = (await late.json()) as { data: { item_hash: string }[] };
    await page.goto(`${url}/console/runs/${ids['run']}?result=${data[0]?.item_hash}`);
    await pane.getByText('train-110', { exact: true }).first().waitFor();
    await page.goto(`${url}/console/compare?runs=${ids['run']},${ids['otherRun']}`);
    await page.getByText(/^A trial is worse by \d+\.\d points, 95 % CI .* items, against /).waitFor();
    await page.getByRole('tab', { name: /^Worse 1\d\d$/ }).waitFor();
    // without tags, the slices are those of the types
    expect(await page.getByRole('combobox', { name: 'Slices' }).inputValue()).toBe('Type');
    const grid = page.getByRole('grid', { name: 'Items that differ' });
    await grid.getByRole('row').nth(1).waitFor();
    await grid.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator('del').first().waitFor();
    expect(faults).toEqual([]);
  });

  it.runIf(IS_LONG)('moves through every table with j and k, chooses with x, opens with Enter', async () => {
    const lines = [1, 2].map((at) => JSON.stringify({ id: at, inputs: { prompt: `${at}?` } }));
    const id = await upload({ 'sections/a.jsonl': lines.join('\n') }, 'Of two versions');
    await fetch(`${url}/datasets/${id}/items`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ edits: [{ item_id: 2, item: { id: 2, inputs: { prompt: 'Two?' } } }] }),
    });
    await using opened = await browser.open('/console/datasets');
    const { page, faults } = opened;
    const tables = [
      { path: '/console/datasets', name: 'Table of datasets', to: /\/datasets\/[0-9a-f-]{36}$/ },
      { path: '/console/runs', name: 'Table of runs', to: /\/runs\/[0-9a-f-]{36}$/, chooses: true },
      { path: '/console/jobs', name: 'Table of jobs', to: /\/datasets\/[0-9a-f-]{36}$/ },
      { path: `/console/datasets/${id}`, name: 'Items', to: /item=/, chooses: true },
      {
        ...{ path: `/console/datasets/${id}?tab=history`, name: 'Table of versions' },
        ...{ to: /[?&]version=1/, chooses: true },
      },
      { path: `/console/runs/${ids['run']}`, name: 'Results', to: /result=/ },
      {
        ...{ path: `/console/compare?runs=${ids['run']},${ids['otherRun']}`, name: 'Items that differ' },
        ...{ to: /item=/ },
      },
    ];
    for (const { path, name, to, chooses = false } of tables) {
      await page.goto(url + path);
      const rows = page.getByRole('grid', { name }).locator('tr[data-index]');
      await rows.nth(1).waitFor();
      for (const [key, row] of [
        ['j', 0],
        ['j', 1],
        ['k', 0],
        ['j', 1],
      ] as const) {
        await page.keyboard.press(key);
        await expect
          .poll(() => rows.evaluateAll((all) => all.findIndex((one) => 'current' in one.dataset)))
          .toBe(row);
      }
      if (chooses) {
        await page.keyboard.press('x');
        await expect
          .poll(async () => [name, await rows.nth(1).getByRole('checkbox').isChecked()])
          .toEqual([name, true]);
      }
      await page.keyboard.press('Enter');
      await expect.poll(() => page.url()).toMatch(to);
    }
    // the border of an open row is moved by keys and by a drag, and stays there
    await page.goto(`${url}/console/datasets/${id}?item=0-0`);
    const border = page.getByRole('separator', { name: 'Width of the list' });
    const share = async () => Number(await border.getAttribute('aria-valuenow'));
    await border.press('ArrowRight');
    await expect.poll(share).toBe(47);
    const { x = 0, y = 0 } = (await border.boundingBox()) ?? {};
    await page.mouse.move(x + 3, y + 100);
    await page.mouse.down();
    await page.mouse.move(x + 203, y + 100, { steps: 4 });
    await page.mouse.up();
    await expect.poll(share).toBeGreaterThan(60);
    await page.reload();
    await expect.poll(share).toBeGreaterThan(60);
    expect(faults).toEqual([]);
    await fetch(`${url}/datasets/${id}`, { method: 'DELETE' });
  });

  it('runs nothing and requests nothing of a hostile dataset', async () => {
    const evil = '<img src=http://evil.example/x onerror="window.hacked=1"><script>window.hacked=1</script>';
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"><script>window.hacked=1</script><image href="http://evil.example/i"/></svg>`;
    const entry = (mime_type: string, text: string) => {
      return { mime_type, encoding: 'base64', data: Buffer.from(text).toString('base64') };
    };
    const prompt = `${evil}\n\n![x](http://evil.example/md.png) [click](javascript:window.hacked=1) <iframe src=//evil.example></iframe> $\\href{javascript:window.hacked=1}{x}$ $\\includegraphics{http://evil.example/k}$ **bold**`;
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const own = { mime_type: 'image/png', encoding: 'base64', data: png };
    const otherId = await upload(
      { 'sections/a.jsonl': JSON.stringify({ id: 1, assets: { a: own } }) },
      'the dataset with the file',
    );
    const sha256 = createHash('sha256').update(Buffer.from(png, 'base64')).digest('hex');
    const item = {
      id: evil,
      type: evil,
      tags: [evil],
      inputs: {
        prompt,
        system_prompt: prompt,
        choices: [prompt],
        messages: [{ role: evil, content: prompt }],
      },
      answer: prompt,
      criteria: [prompt],
      assets: {
        [evil]: entry('image/svg+xml', svg),
        page: entry('text/html', `<script>parent.hacked=1</script>${evil}`),
        far: { mime_type: 'image/png', url: 'http://evil.example/remote.png' },
        script: { mime_type: 'image/png', url: 'javascript:window.hacked=1' },
        own,
        borrowed: { mime_type: 'image/png', sha256, url: `/datasets/${otherId}/assets/${sha256}` },
      },
      __proto__: null,
    };
    const id = await upload(
      { 'sections/evil.jsonl': JSON.stringify(item), 'meta.json': JSON.stringify({ description: prompt }) },
      evil.slice(0, 200),
    );
    for (const tab of ['items&item=0-0', 'overview', 'provenance']) {
      await using opened = await browser.open(`/console/datasets/${id}?tab=${tab}`);
      const { page, faults } = opened;
      if (tab.startsWith('items')) {
        await page.getByText('bold', { exact: true }).first().waitFor();
        await page.getByText('(another host)').waitFor();
        expect(await page.locator(`img[src="/datasets/${id}/assets/${sha256}?version=1"]`).count()).toBe(1);
        expect(await page.locator(`[src*="${otherId}"], [href*="${otherId}"]`).count()).toBe(0);
      }
      await page.waitForLoadState('networkidle');
      expect([tab, await page.evaluate('window.hacked')]).toEqual([tab, undefined]);
      expect(await page.locator('script:not([src^="/console/"])').count()).toBe(0);
      expect(await page.locator('[href^="javascript:"]').count()).toBe(0);
      expect(faults).toEqual([]);
    }
    for (const one of [id, otherId]) await fetch(`${url}/datasets/${one}`, { method: 'DELETE' });
  });

  it.runIf(IS_LONG)(
    'sends no telemetry with the switch off, and only the five fields with it on',
    async () => {
      for (const isOn of [false, true]) {
        await using opened = await browser.open('/console/settings', { hasSeenTour: false });
        const { page, telemetry, faults } = opened;
        const control = page.getByLabel('Log my steps of the tour in this installation');
        expect(await control.isChecked()).toBe(false);
        if (isOn) {
          await control.click({ force: true });
          await page.reload();
          expect(await control.isChecked()).toBe(true);
        }
        await page.getByRole('button', { name: 'Take the tour', exact: true }).click();
        await page.getByText('1 of 4: Get a dataset').waitFor();
        for (const step of ['2 of 4', '3 of 4', '4 of 4']) {
          await page.getByRole('button', { name: 'Skip this step' }).click();
          await page.getByText(step, { exact: false }).waitFor();
        }
        await page.getByRole('button', { name: 'Done', exact: true }).click();
        await page.getByRole('button', { name: 'Take the tour again' }).click();
        await page.getByRole('button', { name: 'No, thanks' }).click();
        await page.waitForLoadState('networkidle');
        const sent = telemetry.map((text) => JSON.parse(text) as Record<string, unknown>);
        expect(sent.map(({ lifecycle }) => lifecycle)).toEqual(
          isOn ? ['started', 'step_viewed', 'step_viewed', 'step_viewed', 'completed', 'dismissed'] : [],
        );
        for (const event of sent) {
          expect(Object.keys(event).sort()).toEqual([
            'anonymous_session_id',
            'consent',
            'lifecycle',
            'route',
            'time_zone',
            'tutorial_version',
          ]);
          expect(event).toMatchObject({ consent: true, route: '/console/settings' });
        }
        expect(faults).toEqual([]);
      }
    },
  );

  it('has no barrier on any page, and fits windows from 320 to 2560 pixels', async () => {
    const pages = [
      '/console',
      '/console/datasets',
      `/console/datasets/${ids['example']}?item=0-0`,
      `/console/datasets/${ids['hub']}?tab=overview`,
      `/console/datasets/${ids['example']}?tab=history`,
      `/console/datasets/${ids['example']}?tab=provenance`,
      `/console/datasets/${ids['example']}?tab=diff&other=${ids['hub']}`,
      '/console/import?path=org/sums',
      '/console/upload',
      '/console/jobs',
      '/console/runs',
      `/console/runs/new?dataset=${ids['example']}`,
      `/console/runs/${ids['run']}?passed=true`,
      `/console/runs/${ids['run']}?sample=blind&n=9`,
      `/console/runs/${ids['run']}?tab=labels`,
      `/console/datasets/${ids['hub']}?tab=runs`,
      `/console/runs/${ids['run']}?tab=charts`,
      `/console/compare?runs=${ids['run']},${ids['otherRun']}`,
      '/console/settings',
      '/console/status',
      '/console/nothing',
    ];
    const found: string[] = [];
    await using opened = await browser.open('/console/datasets');
    const { page, faults } = opened;
    for (const path of pages) {
      await page.goto(url + path);
      await page.locator('h1').first().waitFor();
      await page.locator('[aria-busy]').first().waitFor({ state: 'detached' });
      // with a row open
      await page.keyboard.press('j');
      found.push(...(await barriersOf(page)));
      if (IS_LONG) await takePictures(page, path);
      for (const width of IS_LONG ? [320, 768, 2560, 1280] : [320, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        const overflow = await overflowOf(page);
        if (overflow > 0) found.push(`${path}: ${overflow} pixels wider than ${width}`);
      }
    }
    expect([...found, ...faults]).toEqual([]);
  });

  it('loads at most 230 kB of scripts before the first page', async () => {
    await using opened = await browser.open('/console/datasets');
    const { page } = opened;
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(230_000);
    const folder = fileURLToPath(new URL('../dist/assets', import.meta.url));
    const names = await readdir(folder);
    // what is large is loaded by the pages that need it
    for (const part of ['markdown', 'inspect-worker'])
      expect(names.some((name) => name.startsWith(part))).toBe(true);
    const loaded = await page.evaluate<string[]>(
      `performance.getEntriesByType('resource').map(({ name }) => name)`,
    );
    expect(loaded.filter((name) => /markdown|inspect-worker|KaTeX/.test(name))).toEqual([]);
  });
});
