import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOf, countClicks, focusList, overflowOf } from './console-browser.ts';
import { type OwnConsole, startConsole } from './own-console.ts';

// The hour after a run: which answers are wrong, why, and what is changed for the next one.

const ITEMS = 60;

let own: OwnConsole;
let dataset: string;
let first: string;
let provider: object;

const TOO_LONG = '{"error":{"message":"maximum context length is 4096 tokens"}}';

/** Wrong for every third question, and no answer for every tenth. */
function reply(prompt: string) {
  const number = Number(/(\d+) plus/.exec(prompt)?.[1] ?? 0);
  if (number % 10 === 7) return { status: 400, body: TOO_LONG } as const;
  if (number === 54) return { text: 'I cannot tell.' };
  return { text: `Let me think.\nThe answer is ${number % 3 === 0 ? number : 2 * number}` };
}

/** Sends the results of items to an external run. */
async function push(run: string, from: number, to: number): Promise<void> {
  const lines = Array.from({ length: to - from }, (_, at) =>
    JSON.stringify({ item_id: `sum-${from + at}`, output: `It is ${from + at}`, latency_ms: 40 + at }),
  );
  const response = await fetch(`${own.url}/runs/${run}/results`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/jsonl' },
    body: lines.join('\n'),
  });
  expect([response.status, await response.json()]).toMatchObject([200, { accepted: to - from }]);
}

beforeAll(async () => {
  own = await startConsole({ reply });
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    id: `sum-${at}`,
    type: 'numeric',
    tags: [at % 2 === 0 ? 'even' : 'odd'],
    inputs: { prompt: `What is ${at} plus ${at}?` },
    answer: 2 * at,
    meta: { level: at % 3 === 0 ? 'hard' : 'easy', ...(at === 3 && { 'page, line': '7, 1' }) },
  }));
  dataset = await own.upload(items, 'Sums');
  provider = { type: 'openai_compatible', base_url: own.provider.baseUrl, model: 'weak-1' };
  first = await own.run(dataset, { provider, max_retries: 0 }, 'First attempt');
});
afterAll(() => own[Symbol.asyncDispose]());

describe('the hour after a run', () => {
  it('shows which answers are wrong and why, in two clicks from the run', async () => {
    await using opened = await own.browser.open(`/console/runs/${first}`);
    const { page, faults } = opened;
    const factOf = (name: string): Locator =>
      page
        .locator('dl > *')
        .filter({ has: page.locator('dt', { hasText: name }) })
        .locator('dd');
    await expect.poll(() => factOf('Wrong').textContent()).toBe('17');
    expect(await factOf('No answer').textContent()).toBe('6');
    await page.getByText('Model weak-1', { exact: true }).waitFor();
    // one summary is read out, not each number
    expect(await page.locator('dl :is([aria-live], [role=status])').count()).toBe(0);
    await page.getByRole('status').filter({ hasText: '60 of 60 done' }).waitFor({ state: 'attached' });
    expect(await factOf('Right').textContent()).toMatch(/^37/);
    expect(await factOf('Score 95 %').textContent()).toMatch(/^0\.685 ± 0\.1\d\d$/);
    await page.getByText(/^Score 95 %: 0\.5\d\d to 0\.[78]\d\d, of 54 scored$/).waitFor();
    const list = page.getByRole('grid', { name: 'Results' });
    for (const header of ['Question', 'Expected', 'Got', 'Why', 'Score'])
      await list.getByRole('columnheader', { name: header, exact: true }).waitFor();
    const row = list.getByRole('row', { name: /^wrong sum-3 What is 3 plus 3\?/ });
    await row.getByText('What is 3 plus 3?').waitFor();
    expect(await row.textContent()).toMatch(/sum-3\s*What is 3 plus 3\?\s*6\s*3\s*Read 3 from ".*3"/);
    // the errors by what they say; one click lists their results, the second one shows the reason
    const errors = page.getByRole('region', { name: 'Errors' });
    await errors.getByText('6', { exact: true }).waitFor();
    // what cannot be read is wrong too
    await page.getByTitle('A result can be in several groups.').waitFor();
    await errors.getByRole('button', { name: 'wrong' }).click();
    await page.getByText('17 results', { exact: true }).waitFor();
    await errors.getByRole('button', { name: 'unreadable output' }).click();
    await page.getByText('1 result', { exact: true }).waitFor();
    await list.getByRole('row', { name: /^wrong sum-54 .*No number in the output/ }).waitFor();
    expect(await errors.getByRole('button', { name: 'empty output' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Remove the filter unreadable output' }).click();
    await page.getByText('17 results', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    const clicks = await countClicks(page);
    await errors.getByRole('button', { name: 'maximum context length is <n> tokens' }).click();
    await page.getByText('6 results', { exact: true }).waitFor();
    const failed = list.getByRole('row', { name: /^no answer sum-7 / });
    await failed.waitFor();
    // nothing came; the provider's words are the reason
    expect((await failed.locator(':scope > *').allTextContents()).slice(3, 6)).toEqual([
      ...['14', ''],
      'maximum context length is 4096 tokens',
    ]);
    await failed.click();
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    await pane.getByText('The provider rejected the request').waitFor();
    await pane
      .getByRole('figure', { name: 'The provider says' })
      .getByText('maximum context length is 4096 tokens')
      .waitFor();
    expect(await clicks()).toBe(2);
    expect(await page.getByText('Something went wrong').count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('shows what was expected next to what was read, then why and the output, and keeps filters between tabs and in charts', async () => {
    await using opened = await own.browser.open(`/console/runs/${first}?passed=false`);
    const { page, faults } = opened;
    const list = page.getByRole('grid', { name: 'Results' });
    await list.getByRole('row', { name: /^wrong sum-3 / }).click();
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    await pane.getByRole('heading', { name: 'Expected' }).waitFor();
    const [expected = 0, got = 0, why = 0, output = 0] = await Promise.all(
      ['Expected', 'Got', 'Why', 'Output'].map(
        async (name) => (await pane.getByRole('heading', { name, exact: true }).boundingBox())?.y,
      ),
    );
    expect(Math.abs(expected - got)).toBeLessThan(5);
    expect([got < why, why < output]).toEqual([true, true]);
    await pane.getByText('3', { exact: true }).first().waitFor();
    await pane.getByText('Read 3 from').waitFor();
    await pane.getByText('The answer is 3').first().waitFor();
    // what was sent, to be sent again; what other runs made of the item; and its neighbours
    const sent = pane.locator('details').filter({ hasText: 'As it was sent' });
    await sent.locator('summary').first().click();
    await sent.getByText('What is 3 plus 3?').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await sent.getByRole('button', { name: 'Copy as curl' }).click();
    await expect
      .poll(async () => await page.evaluate<string>('navigator.clipboard.readText()'))
      .toContain(
        `--data-raw '{"messages":[{"content":"What is 3 plus 3?","role":"user"}],"model":"weak-1"}'`,
      );
    await pane.getByText('The same item in other runs').click();
    await pane.getByText('No other of the newest runs has it.').waitFor();
    await pane.getByRole('button', { name: 'Next result' }).click();
    await pane.getByRole('heading', { name: 'sum-6', exact: true }).waitFor();
    await pane.getByRole('button', { name: 'Previous result' }).click();
    await pane.getByText('Read 3 from').waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Tags' }).click();
    await page.getByRole('checkbox', { name: 'Latency' }).click();
    await page.keyboard.press('Escape');
    await list.getByText('odd', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.getByRole('region', { name: 'Score by tag' }).waitFor();
    await page.getByRole('region', { name: 'Score by level' }).getByText('hard').waitFor();
    expect(page.url()).toMatch(/passed=.*false/);
    await page.getByRole('tab', { name: 'Results' }).click();
    await pane.getByText('Read 3 from').waitFor();
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.getByRole('region', { name: 'Score by tag' }).getByRole('button', { name: 'odd' }).click();
    await page.getByText('30 results', { exact: true }).waitFor();
    expect(page.url()).toContain('tag=odd');
    // by metadata, by two values, and where it is worse than chance explains
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.getByRole('region', { name: 'Score by level' }).getByRole('button', { name: 'hard' }).click();
    await page.getByText('20 results', { exact: true }).waitFor();
    await page.getByText('level = hard').waitFor();
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.getByRole('button', { name: 'Test all slices' }).click();
    const worse = page.getByRole('region', { name: 'Slices that are worse than the rest' });
    await worse.getByRole('row', { name: /^level = hard 5\.6 % 100\.0 % 18 < 0\.001$/ }).waitFor();
    expect(await worse.getByRole('row').count()).toBe(2);
    expect(await barriersOf(page)).toEqual([]);
    await worse.getByRole('button', { name: 'level = hard' }).click();
    await page.getByText('20 results', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.reload();
    await list.getByText('odd', { exact: true }).first().waitFor();
    expect(await list.getByRole('columnheader', { name: 'Latency' }).count()).toBe(0);
    for (const width of [390, 768, 1360]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await overflowOf(page)]).toEqual([width, 0]);
    }
    expect(faults).toEqual([]);
  });

  it('keeps chosen, ordered and resized columns in the address, also of metadata', async () => {
    await using opened = await own.browser.open(`/console/runs/${first}`);
    const { page, faults } = opened;
    const headers = page.getByRole('grid', { name: 'Results' }).getByRole('columnheader');
    await page.getByRole('row', { name: /^wrong sum-3 / }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    const menu = page.getByRole('dialog', { name: 'Columns' });
    await menu.getByRole('checkbox', { name: 'level' }).click();
    await menu.getByRole('checkbox', { name: 'Why' }).click();
    await menu.getByRole('button', { name: 'Move Score up' }).click();
    await menu.getByRole('button', { name: 'Make Question wider' }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    const names = ['Id', 'Question', 'Expected', 'Score', 'Got', 'Latency', 'level'];
    await expect.poll(() => headers.allTextContents()).toEqual(['Outcome', ...names]);
    await page.getByRole('row', { name: /^wrong .*sum-3 .*hard/ }).waitFor();
    await headers.getByRole('button', { name: 'Score' }).click();
    await page.locator('tr[aria-rowindex="2"]').getByRole('img', { name: 'wrong' }).waitFor();
    await headers.getByRole('button', { name: /^Score/ }).click();
    await page.locator('tr[aria-rowindex="2"]').getByRole('img', { name: 'right' }).waitFor();
    expect(page.url()).toContain('sort=-score');
    const edge = page.locator('.heading-edge').first();
    const before = (await headers.nth(1).boundingBox())?.width ?? 0;
    const box = await edge.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 4, (box?.y ?? 0) + 4);
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 84, (box?.y ?? 0) + 4, { steps: 4 });
    await page.mouse.up();
    await expect.poll(async () => (await headers.nth(1).boundingBox())?.width).toBe(Math.round(before + 80));
    // a drag of a name moves its column, and is no click on it
    const drag = async (from: string, to: string): Promise<void> => {
      const [start, end] = await Promise.all(
        [from, to].map((name) => headers.getByText(name, { exact: true }).boundingBox()),
      );
      await page.mouse.move((start?.x ?? 0) + 8, (start?.y ?? 0) + 6);
      await page.mouse.down();
      await page.mouse.move((end?.x ?? 0) + 12, (end?.y ?? 0) + 8, { steps: 6 });
      await page.mouse.up();
    };
    await drag('Latency', 'Expected');
    await expect
      .poll(() => headers.allTextContents())
      .toEqual(['Outcome', 'Id', 'Question', 'Latency', 'Expected', 'Score', 'Got', 'level']);
    await drag('Latency', 'level');
    await expect
      .poll(() => headers.allTextContents())
      .toEqual(['Outcome', 'Id', 'Question', 'Expected', 'Score', 'Got', 'level', 'Latency']);
    await drag('Latency', 'level');
    await expect.poll(() => headers.allTextContents()).toEqual(['Outcome', ...names]);
    expect(page.url()).toContain('sort=-score');
    // the same table as a file, of what a filter chooses
    await page.goto(`${page.url()}&tag=even&passed=false`);
    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Table of results as CSV', exact: true }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).split('\r\n');
    expect(lines[0]).toBe(['Outcome', ...names].join(','));
    expect(lines.slice(1, -1)).toHaveLength(9);
    expect(lines.find((line) => line.includes('sum-6,'))).toMatch(
      /^wrong,sum-6,What is 6 plus 6\?,12,0,6,[\d.]+,hard$/,
    );
    await page.reload();
    await expect.poll(() => headers.allTextContents()).toEqual(['Outcome', ...names]);
    expect((await headers.nth(1).boundingBox())?.width).toBe(Math.round(before + 80));
    // a key with a comma is one column, and a filter
    await page.goto(`${own.url}/console/runs/${first}`);
    await page.getByRole('button', { name: 'Columns' }).click();
    await menu.getByRole('checkbox', { name: 'page, line' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await headers.allTextContents()).at(-1)).toBe('page, line');
    await page.getByRole('row', { name: /^wrong sum-3 .* 7, 1$/ }).waitFor();
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByRole('combobox', { name: 'Key of the metadata' }).click();
    await page.getByRole('option', { name: 'page, line' }).click();
    await page.getByLabel('Its value').fill('7, 1');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByText('1 result', { exact: true }).waitFor();
    await page.reload();
    await page.getByText('page, line = 7, 1').waitFor();
    await page.getByText('1 result', { exact: true }).waitFor();
    await expect.poll(async () => (await headers.allTextContents()).at(-1)).toBe('page, line');
    expect(faults).toEqual([]);
  });

  it('finds a column and a filter among many keys of metadata', async () => {
    const meta = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`key ${at}`, `value ${at}`]));
    const wide = await own.upload(
      [{ id: 1, type: 'exact', inputs: { prompt: '?' }, answer: '1', meta }],
      'Wide',
    );
    const run = await own.run(wide, { provider: { type: 'item_field', pointer: '/answer' } });
    await using opened = await own.browser.open(`/console/runs/${run}`);
    const { page, faults } = opened;
    await page.getByText('1 result', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    const menu = page.getByRole('dialog', { name: 'Columns' });
    await menu.getByText(/^2\d\d more: /).waitFor();
    await menu.getByRole('textbox', { name: 'Find a column' }).fill('KEY 299');
    await menu.getByRole('checkbox', { name: 'key 299' }).click();
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('row', { name: /value 299$/ }).waitFor();
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByRole('combobox', { name: 'Key of the metadata' }).fill('key 298');
    await page.getByRole('option', { name: 'key 298' }).click();
    await page.getByLabel('Its value').fill('value 298');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByText('key 298 = value 298').waitFor();
    await page.getByText('1 result', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows the score of each scorer, filters and sorts by one, and adds one to a finished run', async () => {
    const run = await own.run(
      dataset,
      {
        provider,
        max_retries: 0,
        scorers: [{ name: 'number' }, { name: 'polite', checker: { type: 'regex', pattern: '1' } }],
      },
      'Two scorers',
    );
    await using opened = await own.browser.open(`/console/runs/${run}?tab=charts`);
    const { page, faults } = opened;
    const scorers = page.getByRole('region', { name: 'Score by scorer' });
    await scorers.getByRole('row', { name: /^number 0\.685/ }).waitFor();
    await page.getByRole('button', { name: 'Again' }).click();
    await page.getByRole('menuitem', { name: 'Add a scorer…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a scorer' });
    await dialog.getByLabel('Name of the scorer').fill('polite');
    await dialog.getByText('The run has a scorer of this name.').waitFor();
    expect(await dialog.getByRole('button', { name: 'Add' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Name of the scorer').fill('short');
    await dialog.getByRole('combobox', { name: 'Checker' }).click();
    await page.getByRole('option', { name: /^exact_match/ }).click();
    expect(await barriersOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await scorers.getByRole('row', { name: /^short 0\.000/ }).waitFor();
    const names = ['number', 'polite', 'short'];
    await page.getByRole('tab', { name: 'Results' }).click();
    const headers = page.getByRole('grid', { name: 'Results' }).getByRole('columnheader');
    await expect.poll(async () => (await headers.allTextContents()).slice(6, 9)).toEqual(names);
    await headers.getByRole('button', { name: 'polite' }).click();
    await page
      .getByRole('row', { name: /^(?:right|wrong) .*wrong 0\.000/ })
      .first()
      .waitFor();
    expect(page.url()).toContain('sort=scorer.polite');
    await page.getByRole('tab', { name: 'Charts' }).click();
    await scorers.getByRole('button', { name: 'polite' }).click();
    await page.getByText('40 results').waitFor();
    expect(page.url()).toMatch(/scorer=polite/);
    // the charts of another scorer than the main one
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page
      .getByRole('region', { name: 'Score by tag', exact: true })
      .getByRole('button', { name: 'odd', exact: true })
      .waitFor();
    expect(page.url()).toMatch(/scorer=polite/);
    await page.getByRole('tab', { name: 'Results' }).click();
    const row = page.locator('tr[aria-rowindex="2"]');
    await row.getByRole('img', { name: 'wrong' }).first().waitFor();
    await row.click();
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    await pane.getByText('The same item in other runs').click();
    await pane.getByRole('link', { name: 'First attempt' }).waitFor();
    await pane.getByRole('row', { name: /^wrong polite 0\.000 .*checker$/ }).waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('button', { name: 'Filters', exact: true }).click();
    await page.getByLabel('Score from').fill('1');
    await page.getByRole('combobox', { name: 'Key of the metadata' }).click();
    await page.getByRole('option', { name: 'level' }).click();
    await page.getByLabel('Its value').fill('hard');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByText('level = hard').waitFor();
    await page.getByText(/^\d results$/).waitFor();
    expect(faults).toEqual([]);
  });

  it('names the open result by the hash of its item, also where a filter hides it', async () => {
    await using opened = await own.browser.open(`/console/runs/${first}`);
    const { page, faults } = opened;
    await page.getByRole('row', { name: /^wrong sum-3 / }).click();
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    await pane.getByText('Read 3 from').waitFor();
    const hash = new URL(page.url()).searchParams.get('result') ?? '';
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    // going back closes it
    await page.getByRole('row', { name: /^wrong sum-6 / }).click();
    await page.goBack();
    await pane.getByRole('heading').first().waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${own.url}/console/runs/${first}`);
    await page.goto(`${own.url}/console/runs/${first}?passed=true&result=${hash}`);
    await pane.getByText('Read 3 from').waitFor();
    await page.goto(`${own.url}/console/runs/${first}?q=is%2059%20plus`);
    await page.getByText('1 result', { exact: true }).waitFor();
    await page.goto(`${own.url}/console/runs/${first}`);
    await focusList(page, 'Results');
    await page.keyboard.press('End');
    await pane.getByRole('heading', { name: 'sum-59' }).waitFor();
    await page.keyboard.press('Home');
    await pane.getByRole('heading', { name: 'sum-0', exact: true }).waitFor();
    await page.keyboard.press('j');
    await pane.getByRole('heading', { name: 'sum-1', exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('lists results while the run works, and says how many are new below an open one', async () => {
    const { id } = await own.call<{ id: string }>('POST', '/runs', {
      dataset_id: dataset,
      config: { provider: { type: 'external', label: 'harness' }, select: { limit: 12 } },
    });
    await using opened = await own.browser.open(`/console/runs/${id}`);
    const { page, faults } = opened;
    await page.getByText('No results yet.').waitFor();
    // an untouched list follows the run
    await push(id, 0, 5);
    await page.getByText('5 results', { exact: true }).waitFor();
    // with its interval and latencies, as after its end
    await page.getByText(/^0\.\d{3} ± 0\.\d{3}/).waitFor();
    await page.getByText(/^Latency median, 99 %: \d/).waitFor();
    // below an open result nothing moves by itself
    await page.getByRole('grid', { name: 'Results' }).getByRole('row').nth(1).click();
    await push(id, 5, 11);
    const news = page.getByRole('button', { name: '6 new', exact: true });
    await news.waitFor();
    await page.getByText('5 results', { exact: true }).waitFor();
    await news.click();
    await page.getByText('11 results', { exact: true }).waitFor();
    // the end of a run refreshes every list
    await push(id, 11, 12);
    await own.call('POST', `/runs/${id}/finish`, {});
    await page.getByText('completed').waitFor();
    await page.getByText('12 results', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  it('lists the last results also where the run is read before the event of its end', async () => {
    const { id } = await own.call<{ id: string }>('POST', '/runs', {
      dataset_id: dataset,
      config: { provider: { type: 'external', label: 'harness' }, select: { limit: 12 } },
    });
    await using opened = await own.browser.open('/console/runs');
    const { page } = opened;
    await page.route(`**/runs/${id}/events`, () => {});
    await page.goto(`${own.url}/console/runs/${id}`);
    await page.getByText('No results yet.').waitFor();
    await push(id, 0, 12);
    await own.call('POST', `/runs/${id}/finish`, {});
    await page.getByText('completed').waitFor();
    await page.getByText('12 results', { exact: true }).waitFor();
  });

  it('shows the interval of the score while results keep coming', async () => {
    const { id } = await own.call<{ id: string }>('POST', '/runs', {
      dataset_id: dataset,
      config: { provider: { type: 'external', label: 'harness' } },
    });
    await using opened = await own.browser.open(`/console/runs/${id}`);
    const { page, faults } = opened;
    await page.getByText('No results yet.').waitFor();
    const interval = page.getByText(/^0\.\d{3} ± 0\.\d{3}/);
    for (let at = 0; at < ITEMS && !(await interval.isVisible()); at += 1) {
      await push(id, at, at + 1);
      await delay(300);
    }
    expect(await interval.isVisible()).toBe(true);
    expect(faults).toEqual([]);
  });

  it('copies a run with every field, marks what is refused at its field, and tries three items', async () => {
    const source = await own.run(
      dataset,
      {
        provider: {
          ...provider,
          params: { temperature: 0.5, top_p: 0.9 },
          extra_headers: { 'x-team': 'tests' },
        },
        prompt_template: 'Answer: {prompt}',
        checker: { type: 'includes', all: true },
        checker_mode: 'override',
        select: { limit: 5, tags: ['odd'] },
        price: { input_per_million: 1, output_per_million: 2, currency: 'EUR' },
        max_cost: { amount: 5 },
        max_retries: 0,
        timeout_ms: 30_000,
      },
      'Source',
    );
    await using opened = await own.browser.open(`/console/runs/${source}`);
    const { page, faults } = opened;
    await page.getByRole('link', { name: 'Copy run' }).click();
    await page.getByText('2 can be scored').waitFor();
    await page.getByText(/about \d+ tokens · about (?:0\.\d{4}|< 0\.0001) EUR/).waitFor();
    await page.getByRole('button', { name: /^Repetitions, pace and price/ }).click();
    const reuse = page.getByRole('switch', {
      name: 'Take outputs of an earlier run where it was asked the same',
    });
    const planned = page.waitForRequest(
      (request) => request.postData()?.includes('"reuse":{"run_id":"latest"}') === true,
    );
    await reuse.click({ force: true });
    await planned;
    await reuse.click({ force: true });
    await page.getByText('2 can be scored').waitFor();
    expect(await page.getByLabel('Name of the run').inputValue()).toBe('Source (copy)');
    const key = page.getByRole('combobox', { name: 'API key variable' });
    await key.fill('LAB');
    await expect.poll(() => key.getAttribute('aria-invalid')).toBe('true');
    await page.getByText('The run cannot start yet: see the marked fields.').waitFor();
    expect(await page.getByText('/config/provider/api_key_env').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Run on all' }).isDisabled()).toBe(true);
    await key.fill('');
    await page.getByRole('button', { name: 'Which items' }).click();
    await page.getByRole('combobox', { name: 'Tags' }).fill('ev');
    await page.getByRole('option', { name: 'even' }).waitFor();
    await page.getByRole('combobox', { name: 'Tags' }).fill('');
    // what starts the run is in view at every place of the form
    await page.getByRole('textbox', { name: 'Currency' }).scrollIntoViewIfNeeded();
    const start = page.getByRole('button', { name: 'Run on all' });
    expect((await start.boundingBox())?.y).toBeGreaterThan(0);
    expect((await start.boundingBox())?.y).toBeLessThan(800);
    await page.getByText('2 can be scored').waitFor();
    // three items are asked, and nothing is stored
    const countRuns = async () =>
      (await own.call<{ meta: { total_items: number } }>('GET', `/runs?dataset_id=${dataset}`)).meta
        .total_items;
    const stored = await countRuns();
    const trial = page.getByRole('region', { name: 'Trial' });
    await trial.getByText('Chosen', { exact: true }).click();
    await trial.getByRole('combobox', { name: 'Ids of the items' }).fill('sum-1');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+Enter');
    await trial.getByRole('heading', { name: 'sum-1', exact: true }).waitFor();
    await trial.getByText('What is 1 plus 1?', { exact: true }).waitFor();
    await trial.getByText('The answer is 2').first().waitFor();
    await trial.getByText(/^1\.000/).waitFor();
    await trial.getByText('Request', { exact: true }).first().click();
    await trial.getByText('Answer: What is 1 plus 1?').waitFor();
    expect(await countRuns()).toBe(stored);
    expect(await barriersOf(page)).toEqual([]);
    await start.click();
    await page.getByRole('heading', { name: 'Source (copy)' }).waitFor();
    const copy = page.url().split('/').at(-1) ?? '';
    const { config } = await own.call<{ config: Record<string, unknown> }>('GET', `/runs/${copy}`);
    const before = await own.call<{ config: Record<string, unknown> }>('GET', `/runs/${source}`);
    expect(config).toEqual(before.config);
    expect(faults).toEqual([]);
  });

  it('fills in a known provider, and starts a run for each model and prompt with several scores', async () => {
    await using opened = await own.browser.open(`/console/runs/new?dataset=${dataset}`);
    const { page, faults } = opened;
    await page.getByRole('combobox', { name: 'Known provider' }).click();
    await page.getByRole('option', { name: /, without a key$/ }).click();
    expect(await page.getByRole('combobox', { name: 'Base URL' }).inputValue()).toBe(own.provider.baseUrl);
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('weak-1');
    await page.getByRole('button', { name: 'Several models' }).click();
    await page.getByRole('combobox', { name: 'Further models' }).fill('weak-2');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Add a variant' }).click();
    await page.getByLabel('Prompt template 2').fill('Think. {prompt}');
    await page.getByRole('button', { name: 'Which items' }).click();
    await page.getByLabel('First items').fill('4');
    await page.getByRole('button', { name: 'Scoring' }).click();
    await page.getByRole('button', { name: 'Score in several ways' }).click();
    await page.getByText(/4 items · 4 requests · 16 of all 4 runs/).waitFor();
    await page.getByText('4 can be scored').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run on all 4, 4 runs' }).click();
    await page.getByRole('button', { name: 'Compare 4' }).waitFor();
    const chosen = new URL(page.url()).searchParams.get('chosen')?.split(',') ?? [];
    const started = await Promise.all(
      chosen.map((id) => own.call<{ name: string; config: Record<string, unknown> }>('GET', `/runs/${id}`)),
    );
    expect(started.map(({ name }) => name)).toEqual([
      'weak-1, prompt 1',
      'weak-1, prompt 2',
      'weak-2, prompt 1',
      'weak-2, prompt 2',
    ]);
    expect(started[3]?.config).toMatchObject({
      provider: { model: 'weak-2' },
      prompt_template: 'Think. {prompt}',
      select: { limit: 4 },
      scorers: [{ name: 'main' }, { name: 'second', checker: { type: 'includes' } }],
    });
    // a copy has the same rows
    await page.goto(`${own.url}/console/runs/new?copy=${chosen[0]}`);
    await page.getByRole('button', { name: 'Scoring' }).click();
    expect(await page.getByRole('textbox', { name: 'Name of score 2' }).inputValue()).toBe('second');
    for (const id of chosen) {
      await expect
        .poll(async () => (await own.call<{ finished_at: string | null }>('GET', `/runs/${id}`)).finished_at)
        .not.toBeNull();
      await own.call('DELETE', `/runs/${id}`);
    }
    expect(faults).toEqual([]);
  });

  it('opens Scoring where no item can be scored, and explains the checkers', async () => {
    const untyped = await own.upload([{ id: 1, inputs: { prompt: '1 plus 1?' }, answer: '2' }], 'Untyped');
    await using opened = await own.browser.open(`/console/runs/new?dataset=${untyped}`);
    const { page, faults } = opened;
    await page.getByText('Echo', { exact: true }).click();
    await page.getByText('No item can be scored without a checker or a judge.').waitFor();
    expect(await page.getByRole('button', { name: 'Run on all' }).isDisabled()).toBe(true);
    await page.getByRole('combobox', { name: 'Checker' }).click();
    await page.getByRole('option', { name: 'includes: “It is Paris.” is right for “Paris”' }).click();
    await page.getByText('1 can be scored').waitFor();
    await page.getByText('OpenAI-compatible', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Base URL' }).click();
    await page.getByRole('option', { name: own.provider.baseUrl }).click();
    expect(faults).toEqual([]);
  });

  it('lists runs with model and interval, and keeps the chosen ones on the way back', async () => {
    await using opened = await own.browser.open('/console/runs');
    const { page, faults } = opened;
    await page.getByRole('row', { name: /First attempt weak-1 Sums .* 0\.685 ± 0\.1/ }).waitFor();
    await page.getByLabel('Search name, model, dataset').fill('first att');
    await page.getByText(/^1 run of \d$/).waitFor();
    await page.getByLabel('Search name, model, dataset').fill('');
    await page.getByRole('button', { name: 'Score', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Score', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-score');
    const scores = (
      await page.getByRole('gridcell', { name: /^(?:\d\.\d{3}|–)(?: ± .*)?$/ }).allTextContents()
    )
      .map((text) => Number.parseFloat(text))
      .filter((score) => !Number.isNaN(score));
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Tokens' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Tokens' }).waitFor({ state: 'detached' });
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Choose First attempt' }).click();
    await page.getByRole('link', { name: 'First attempt' }).click();
    await page.getByRole('heading', { name: 'First attempt' }).waitFor();
    await page.goBack();
    await expect
      .poll(() => page.getByRole('checkbox', { name: 'Choose First attempt' }).isChecked())
      .toBe(true);
    expect(faults).toEqual([]);
  });
});
