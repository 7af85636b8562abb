import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOf } from './console-browser.ts';
import { type OwnConsole, startConsole } from './own-console.ts';

// An own table becomes a dataset with all of its columns, and its runs are found and compared.

const ROWS = 40;

let own: OwnConsole;
beforeAll(async () => {
  own = await startConsole({
    reply: (prompt, attempt) => {
      const number = /\d+/.exec(prompt)?.[0] ?? '';
      // the third answer is another one
      return { text: prompt.startsWith('Twice') && attempt === 3 ? String(Number(number) + 1) : number };
    },
  });
});
afterAll(() => own[Symbol.asyncDispose]());

const csv = [
  'qid,frage,gold,topic,difficulty,source_url,rationale',
  ...Array.from({ length: ROWS }, (_, row) =>
    [
      `q-${row}`,
      `Was ist ${row} + 0?`,
      row,
      ['sums', 'books'][row % 2],
      row % 5,
      `https://example.org/${row}`,
      `Grund ${row}${row === 0 ? ' und noch einer'.repeat(6) : ''}`,
    ].join(','),
  ),
].join('\n');

describe('a table of questions', () => {
  it('keeps every column without a field, and shows the next step', async () => {
    await using opened = await own.browser.open('/console/upload', {});
    const { page, faults } = opened;
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'fragen.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    const mapping = page.getByRole('group', { name: 'Mapping' });
    const choose = async (field: string, column: string): Promise<void> => {
      await mapping.getByRole('combobox', { name: field, exact: true }).click();
      await page.getByRole('option', { name: column, exact: true }).click();
    };
    // of a row with a long text, all texts begin on one line
    const cells = page.getByRole('region', { name: 'First rows' }).getByRole('row').nth(1).locator('td');
    await cells.first().waitFor();
    const tops = await cells.evaluateAll((all) =>
      all.map(({ firstElementChild }) => firstElementChild?.getBoundingClientRect().top ?? 0),
    );
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(3);
    const heights = await cells.evaluateAll((all) =>
      all.map(({ firstElementChild }) => firstElementChild?.getBoundingClientRect().height ?? 0),
    );
    expect(Math.max(...heights)).toBeGreaterThan(2 * Math.min(...heights));
    await choose('Prompt', 'frage');
    expect(await mapping.getByRole('combobox', { name: 'Answer', exact: true }).inputValue()).toBe('gold');
    expect(await mapping.getByRole('combobox', { name: 'Id', exact: true }).inputValue()).toBe('qid');
    await page.getByLabel(/^Keep \d other columns? as metadata/).waitFor();
    await page
      .getByRole('region', { name: 'Item preview' })
      .getByRole('row', { name: /^rationale Grund 0/ })
      .waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const isInWindow = async (locator: Locator): Promise<boolean> => {
      const { y = -1, height = 0 } = (await locator.boundingBox()) ?? {};
      return y > 0 && y + height <= (page.viewportSize()?.height ?? 0);
    };
    const send = page.getByRole('button', { name: 'Upload', exact: true });
    await page.setViewportSize({ width: 320, height: 640 });
    await mapping.getByRole('combobox', { name: 'Prompt', exact: true }).scrollIntoViewIfNeeded();
    expect(await isInWindow(send)).toBe(true);
    await page.setViewportSize({ width: 1360, height: 900 });
    await page.getByRole('heading', { name: 'Upload', exact: true }).scrollIntoViewIfNeeded();
    expect(await isInWindow(send)).toBe(true);
    await send.click();
    const next = page.getByRole('link', { name: 'Run it' });
    await next.waitFor();
    await expect.poll(() => isInWindow(next)).toBe(true);
    const id = (await page.getByRole('link', { name: 'Open the dataset' }).getAttribute('href'))
      ?.split('/')
      .at(-1);
    const { data } = await own.call<{ data: { item: object }[] }>('GET', `/datasets/${id}/items?limit=1`);
    expect(data[0]?.item).toMatchObject({
      id: 'q-0',
      meta: {
        topic: 'sums',
        difficulty: expect.anything(),
        source_url: 'https://example.org/0',
        rationale: expect.stringMatching(/^Grund 0 und/),
      },
    });
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'fragen.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await choose('Prompt', 'frage');
    await page.getByLabel(/^Keep \d other columns? as metadata/).click();
    await page
      .getByRole('region', { name: 'Item preview' })
      .getByRole('row', { name: /source_url/ })
      .waitFor({ state: 'detached' });
    // two files become two sections of one dataset, and columns that only one has do no harm
    await page.getByRole('button', { name: 'Choose another file' }).click();
    const second = csv
      .split('\n')
      .map((line) => line.split(',').slice(0, 3).join(','))
      .join('\n');
    await page.getByLabel('Files').setInputFiles(
      [csv, second].map((text, at) => ({
        name: `part-${at}.csv`,
        mimeType: 'text/csv',
        buffer: Buffer.from(text),
      })),
    );
    await choose('Prompt', 'frage');
    await page.getByText('part-0.csv, part-1.csv').waitFor();
    expect(faults).toEqual([]);
  });

  it('shows the runs of a dataset, its last score, and what differs between two of them', async () => {
    const items = Array.from({ length: 20 }, (_, at) => ({
      id: at,
      type: 'exact',
      tags: [at % 2 === 0 ? 'even' : 'odd'],
      inputs: { prompt: `Say ${at}` },
      answer: at < 18 ? String(at) : 'no',
      meta: { half: at < 10 ? 'first' : 'second' },
    }));
    const dataset = await own.upload(items, 'Numbers');
    const provider = { type: 'openai_compatible', base_url: own.provider.baseUrl, model: 'small-1' };
    const scorers = [{ name: 'said' }, { name: 'long', checker: { type: 'regex', pattern: '..' } }];
    const one = await own.run(dataset, { provider, scorers }, 'Without a template');
    const two = await own.run(
      dataset,
      { provider, scorers, prompt_template: 'Wait 7 s. {prompt}' },
      'With a template',
    );
    await using opened = await own.browser.open('/console/datasets');
    const { page, faults } = opened;
    await page.getByRole('row', { name: /Numbers 20 0\.050/ }).waitFor();
    await page.getByRole('link', { name: 'Numbers', exact: true }).click();
    await page.getByRole('tab', { name: 'Runs' }).click();
    await page.getByRole('region', { name: 'Scores, the oldest first' }).getByText('0.900').waitFor();
    const timeline = page.getByRole('figure', { name: /^Scores over time and versions/ });
    expect(await timeline.locator('circle').count()).toBe(2);
    expect(await timeline.getByText('v1').count()).toBe(1);
    expect(await barriersOf(page)).toEqual([]);
    for (const name of ['Without a template', 'With a template'])
      await page.getByRole('checkbox', { name: `Choose ${name}` }).click();
    await page.getByRole('button', { name: 'Compare 2' }).click();
    const differs = page.getByRole('region', { name: 'Differences of configurations' });
    await differs.getByRole('row', { name: /^prompt_template .*Wait 7 s\./ }).waitFor();
    expect(await differs.getByRole('row').count()).toBe(2);
    await page
      .getByRole('region', { name: 'Differences by slice' })
      .getByRole('row', { name: /^even −0\.\d{3} −\d\.\d{3} to /, exact: false })
      .waitFor();
    await page.getByRole('combobox', { name: 'Slices' }).click();
    await page.getByRole('option', { name: 'Metadata: half' }).click();
    const slices = page.getByRole('region', { name: 'Differences by slice' });
    await slices.getByRole('row', { name: /^first .* n = 10$/ }).waitFor();
    expect(page.url()).toContain('slice=');
    // all runs of the dataset
    const runs = page.getByRole('region', { name: 'Score against latency (50 %)' });
    await page.getByRole('radiogroup', { name: 'Against' }).getByText('Latency').click();
    await runs.getByRole('row', { name: /^Without a template 0\.900 .*yes$/ }).waitFor();
    // as another scorer sees them: both outputs have as many digits
    await page.getByRole('combobox', { name: 'Scorer' }).click();
    await page.getByRole('option', { name: 'long' }).click();
    await page.getByText(/n = 20, 0 better, 10 worse/).waitFor();
    await page.getByRole('combobox', { name: 'Scorer' }).click();
    await page.getByRole('option', { name: 'said' }).click();
    await page
      .getByText(/^With a template is worse by \d+\.\d points, 95 % CI \d.* against Without a template$/)
      .waitFor();
    await page.getByRole('button', { name: 'Copy the sentence' }).waitFor();
    expect(await page.locator('figure').count()).toBe(0);
    // the other way round, and back
    await page.getByRole('button', { name: 'Swap' }).click();
    await page
      .getByText(/^Without a template is better by \d+\.\d points, 95 % CI \d.* against With a template$/)
      .waitFor();
    await page.getByRole('button', { name: 'Swap' }).click();
    await page.getByText(/^With a template is worse by .* against Without a template$/).waitFor();
    // every column fits into a window of a usual width
    await page.setViewportSize({ width: 1360, height: 900 });
    const table = page.getByRole('region', { name: 'Differences', exact: true });
    expect(await table.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    // better, worse and equal are three numbers
    const headings = await table.getByRole('columnheader').allTextContents();
    const numbers = await table
      .getByRole('row', { name: /^With a template/ })
      .locator('td')
      .allTextContents();
    const told = ['Better', 'Worse', 'Equal'].map((name) => numbers[headings.indexOf(name)]);
    expect(told).toEqual(['0', '17', '3']);
    // an item is told by its question
    const differing = page.getByRole('grid', { name: 'Items that differ' }).getByRole('row').nth(1);
    await differing.getByRole('img', { name: 'wrong' }).waitFor();
    await differing.getByText(/^Say \d+/).waitFor();
    // the widest interval fills the scale
    const bar = page.getByRole('region', { name: 'Differences', exact: true }).locator('svg line').nth(2);
    const [from, to] = await Promise.all(['x1', 'x2'].map((name) => bar.getAttribute(name)));
    expect(Math.min(Number(from), Number(to))).toBe(0);
    expect(await barriersOf(page)).toEqual([]);

    const other = await own.upload(
      items.map((item) => ({ ...item, meta: { round: 2 } })),
      'Numbers again',
    );
    const three = await own.run(other, { provider }, 'Of another dataset');
    await page.goto(`${own.url}/console/compare`);
    await page.getByRole('link', { name: 'Without a template and With a template' }).waitFor();
    await page.goto(`${own.url}/console/compare?runs=${one},${three}`);
    await page.getByText('These runs share no scored items').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await page.getByRole('grid', { name: 'Items that differ' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Pair by id' }).click();
    await page.getByRole('row', { name: /^Of another dataset Numbers again 0\.900/ }).waitFor();
    expect(page.url()).toContain('by=id');
    await page.getByText('No items differ.').waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Report (one HTML file)' }).click();
    const report = await readFile(await (await saving).path(), 'utf8');
    expect(report).toContain('items paired by id');
    // as its live page does
    expect(report).toMatch(/href="[^"]*\/console\/compare\?runs=[^"]*&amp;by=id"/);
    expect(report).toContain('No clear difference: Of another dataset');
    expect(two).not.toBe(three);
    // the same questions under other ids are the same items
    const renumbered = await own.upload(
      items.map((item) => ({ ...item, id: `n${item.id}` })),
      'Numbers with other ids',
    );
    await page.goto(`${own.url}/console/datasets/${dataset}?tab=diff&other=${renumbered}`);
    for (const kind of ['All (20)', 'changed (20)', 'added (0)', 'removed (0)'])
      await page.getByText(kind, { exact: true }).waitFor();
    await page.getByRole('region', { name: 'id after' }).first().getByText('n0').waitFor();
    expect(await page.getByRole('region', { name: /^inputs/ }).count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('breaks no name inside a word, cuts no number, and has the facts of a run in one line', async () => {
    const items = Array.from({ length: 40 }, (_, at) => ({
      ...{ id: at, type: 'exact', inputs: { prompt: `Say ${at}` } },
      answer: at < 30 ? String(at) : 'no',
    }));
    const dataset = await own.upload(items, 'conversations_of_support');
    const provider = {
      ...{ type: 'openai_compatible', base_url: own.provider.baseUrl },
      model: 'an-organisation/small-instructed-model-of-8b',
    };
    const plain = await own.run(dataset, { provider }, 'support_without_steps');
    const steps = await own.run(
      dataset,
      { provider, prompt_template: 'Within 7 steps: {prompt}' },
      'support_step_by_step',
    );
    await using opened = await own.browser.open('/console/datasets', { width: 900, height: 768 });
    const { page, faults } = opened;
    const linesOf = (name: string) =>
      page
        .getByRole('link', { name, exact: true })
        .first()
        .evaluate((element) => element.getClientRects().length);
    const cut = () =>
      page
        .locator('td.numbers, td.wraps, .fact-line dd')
        .evaluateAll((cells) =>
          cells.flatMap((cell) => (cell.scrollWidth > cell.clientWidth ? [cell.textContent] : [])),
        );
    expect(await linesOf('conversations_of_support')).toBe(1);
    await page.goto(`${own.url}/console/runs?dataset=${dataset}`);
    for (const name of ['support_without_steps', 'support_step_by_step', 'conversations_of_support'])
      expect([name, await linesOf(name)]).toEqual([name, 1]);
    expect(await cut()).toEqual([]);
    for (const width of [900, 1366]) {
      await page.setViewportSize({ width, height: 768 });
      await page.goto(`${own.url}/console/compare?runs=${plain},${steps}`);
      const differing = page.getByRole('grid', { name: 'Items that differ' });
      await differing.getByText('1.000').first().waitFor();
      expect(await cut()).toEqual([]);
      await page.goto(`${own.url}/console/runs/${plain}`);
      await page.getByRole('grid', { name: 'Results' }).getByText('1.000').first().waitFor();
      expect(await cut()).toEqual([]);
    }
    const [name, model] = await Promise.all([
      page.getByRole('heading', { level: 1 }).boundingBox(),
      page.getByText(/^Model an-organisation/).boundingBox(),
    ]);
    expect(model?.height).toBeLessThan(30);
    expect(Math.abs((model?.y ?? 0) - (name?.y ?? 100))).toBeLessThan(20);
    expect(faults).toEqual([]);
  });

  it('shows every repetition of an item of two runs, beside their mean', async () => {
    const item = { id: 1, type: 'exact', inputs: { prompt: 'Twice 70' }, answer: '71' };
    const dataset = await own.upload([item], 'Repeated');
    const provider = { type: 'openai_compatible', base_url: own.provider.baseUrl, model: 'small-1' };
    const one = await own.run(dataset, { provider }, 'Once');
    const two = await own.run(dataset, { provider, repetitions: 2 }, 'Two times');
    await using opened = await own.browser.open(`/console/compare?runs=${one},${two}`, {});
    const { page, faults } = opened;
    await page.getByRole('grid', { name: 'Items that differ' }).getByRole('button', { name: '1' }).click();
    const pane = page.getByRole('region', { name: 'Difference', exact: true });
    await pane.getByRole('heading', { name: 'Two times: 0.500' }).waitFor();
    for (const [repetition, score] of [
      [1, '0.000'],
      [2, '1.000'],
    ])
      await pane.getByText(`Repetition ${repetition}: ${score}`).waitFor();
    expect(await pane.getByText(/^Repetition/).count()).toBe(2);
    await page.goBack();
    await pane.waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });

  it('keeps what is typed into cells until it is saved or discarded', async () => {
    const dataset = await own.upload([{ id: 'q-1', inputs: { prompt: '2 + 2?' }, answer: '5' }], 'Cells');
    await using opened = await own.browser.open(`/console/datasets/${dataset}`, {});
    const { page, faults } = opened;
    const edit = page.getByRole('button', { name: 'Edit cells' });
    await edit.click();
    await page.getByLabel('answer of q-1').fill('4');
    await edit.click();
    await page.getByLabel('answer of q-1').waitFor({ state: 'detached' });
    await edit.click();
    expect(await page.getByLabel('answer of q-1').inputValue()).toBe('4');
    await page.getByRole('button', { name: 'Save 1 item as a version' }).click();
    await page.getByText('Version 2: 1 changed.').waitFor();
    expect(faults).toEqual([]);
  });

  it('says in its dialog that a handle is taken, also on the page of another one', async () => {
    for (const handle of ['own-one', 'taken-one']) {
      const id = await own.upload([{ id: 1, inputs: { prompt: '1' } }], handle);
      await own.call('PATCH', `/datasets/${id}`, { handle });
    }
    await using opened = await own.browser.open('/console/datasets/own-one', {});
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the dataset' });
    await dialog.getByRole('textbox', { name: 'Handle' }).fill('taken-one');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('textbox', { name: 'Handle' }).fill('free-one');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'own-one' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('shows a run of a dataset that was started elsewhere', async () => {
    const dataset = await own.upload(
      [{ id: 1, type: 'exact', inputs: { prompt: '1' }, answer: '1' }],
      'Watched',
    );
    await using opened = await own.browser.open(`/console/datasets/${dataset}?tab=runs`, {});
    const { page, faults } = opened;
    await page.getByText('No runs yet.').waitFor();
    await own.run(dataset, { provider: { type: 'echo' } }, 'By another');
    await page
      .getByRole('row', { name: /By another/ })
      .first()
      .waitFor();
    expect(faults).toEqual([]);
  });

  it('keeps a comparison in view while the connection is lost, and says how many runs it leaves out', async () => {
    const dataset = await own.upload(
      [{ id: 1, type: 'exact', inputs: { prompt: '1' }, answer: '1' }],
      'Compared',
    );
    const config = { provider: { type: 'echo' } };
    const runs = [await own.run(dataset, config), await own.run(dataset, config)];
    const path = `/console/compare?runs=${runs.join(',')}`;
    await using opened = await own.browser.open(path, { hasClock: true });
    const { page } = opened;
    await page.getByText('No items differ.').waitFor();
    await page.context().setOffline(true);
    const banner = page.getByRole('alert').getByText('The service does not respond.', { exact: false });
    const look = async (): Promise<boolean> => {
      await page.clock.fastForward(20_000);
      await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
      return await banner.first().isVisible();
    };
    await expect.poll(look, { timeout: 90_000, interval: 500 }).toBe(true);
    await page.getByText('No items differ.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.context().setOffline(false);
    await page.goto(`${own.url}${path},a,b,c,d,e`);
    await page.getByText('The first 6 of 7 runs are compared.').waitFor();
  });

  it('names the dataset of a job, and says where it was deleted', async () => {
    own.hub.add({ id: 'org/short', files: { 'train.jsonl': '{"question":"One?","answer":"1"}\n' } });
    const body = { name: 'Short', config: { path: 'org/short' }, mapping: { prompt_column: 'question' } };
    const ids = await Promise.all(
      [1, 2].map(async () => {
        const response = await fetch(`${own.url}/datasets/hub/import`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
          body: JSON.stringify(body),
        });
        const { id } = (await response.json()) as { readonly id: string };
        await (await fetch(`${own.url}/jobs/${id}/events`)).text();
        return (await own.call<{ dataset_id: string }>('GET', `/jobs/${id}`)).dataset_id;
      }),
    );
    await own.call('DELETE', `/datasets/${ids[0]}`);
    const form = new FormData();
    form.append('name', 'Sent');
    form.append('file', new Blob(['{"id":1,"inputs":{"prompt":"One?"}}\n']), 'sent.jsonl');
    const sent = await fetch(`${own.url}/datasets/upload`, {
      method: 'POST',
      headers: { Prefer: 'respond-async' },
      body: form,
    });
    const { id: upload } = (await sent.json()) as { readonly id: string };
    await (await fetch(`${own.url}/jobs/${upload}/events`)).text();
    await using opened = await own.browser.open('/console/jobs');
    const { page, faults } = opened;
    await page.getByRole('link', { name: 'Short' }).waitFor();
    await page.getByRole('row', { name: /^import org\/short Short succeeded/ }).waitFor();
    await page.getByRole('row', { name: /^import org\/short Short, deleted since succeeded/ }).waitFor();
    await page.getByRole('row', { name: /^upload sent\.jsonl Sent succeeded/ }).waitFor();
    await page.getByRole('link', { name: 'Sent' }).waitFor();
    // what an operator sees of the whole installation
    await page.goto(`${own.url}/console/status`);
    await page.getByText(/^\d+\.\d per second/).waitFor();
    await page.getByRole('row', { name: /^\w{8} .* 0 of 16 0 of \d/ }).waitFor();
    const factOf = (name: string) =>
      page
        .locator('dl > *')
        .filter({ has: page.locator('dt', { hasText: name }) })
        .locator('dd');
    expect(await factOf('Database').textContent()).toMatch(/MiB.*datasets, \d+ runs$/);
    expect(await factOf('Disk').textContent()).toMatch(/iB free/);
    expect(await factOf('Imports of the last day').textContent()).toMatch(/^3 stored0 failed/);
    await page.getByText(/^\d+ requests, 0 failed \(0\.0 %\)/).waitFor();
    await page.getByRole('row', { name: /^SVC_RUN_CONCURRENCY 16$/ }).waitFor();
    await page
      .getByRole('region', { name: 'Table of providers' })
      .getByRole('row', { name: /^none http:\/\/127\.0\.0\.1:\d+ .*small-1/ })
      .waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(await page.getByRole('link', { name: 'Metrics' }).getAttribute('href')).toBe('/metrics');
    expect(faults).toEqual([]);
  });

  it('names what is far down in lists, and says what an address names that is gone', async () => {
    const item = { id: 1, type: 'exact', inputs: { prompt: 'Say 1' }, answer: '1' };
    const dataset = await own.upload([item], 'Far down');
    const gone = await own.upload([item], 'Deleted soon');
    const provider = { type: 'openai_compatible', base_url: own.provider.baseUrl, model: 'small-1' };
    const price = { input_per_million: 1, output_per_million: 1, currency: 'USD' };
    const run = await own.run(dataset, { provider }, 'Far run');
    const stopped = await own.run(dataset, { provider, price, max_cost: { amount: 1e-9 } }, 'Stopped run');
    await own.call('POST', '/runs', {
      ...{ dataset_id: dataset, name: 'Outside run' },
      config: { provider: { type: 'external', label: 'own harness' } },
    });
    await own.call('DELETE', `/datasets/${gone}`);
    await using opened = await own.browser.open('/console/runs?status=waiting', { hasClock: true });
    const { page, faults } = opened;
    await page.getByRole('row', { name: /Outside run/ }).waitFor();
    expect(await page.getByRole('row', { name: /Far run/ }).count()).toBe(0);
    // as if a hundred datasets were newer
    await page.route('**/datasets?limit=100', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), data: [] } });
    });
    await page.goto(`${own.url}/console/runs?q=far+down`);
    await page.getByRole('row', { name: /Far run small-1 Far down/ }).waitFor();
    await page.goto(`${own.url}/console/runs/${stopped}`);
    await page.getByText('The run has reached its maximum cost').waitFor();
    await page.getByRole('button', { name: 'Again' }).click();
    await page.getByRole('menuitem', { name: 'Continue with another maximum cost…' }).click();
    await page.getByRole('textbox', { name: 'Maximum cost' }).fill('1');
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    await page.getByText('completed').waitFor();
    await page.goto(`${own.url}/console/runs/${run}?result=${'0'.repeat(64)}`);
    await page.getByText('The result that the address names is not here.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close the result' }).click();
    await expect.poll(() => page.url()).not.toContain('result=');
    await page.goto(`${own.url}/console/datasets/${dataset}?tab=diff&other=${gone}`);
    await page.getByText(`Dataset "${gone}" not found.`).waitFor();
    await page.goto(`${own.url}/console/runs/new?copy=${gone}`);
    await page.getByText(`Run "${gone}" not found.`).waitFor();
    // what is typed stays when the copied run is deleted
    await page.goto(`${own.url}/console/runs/new?copy=${stopped}`);
    const name = page.getByLabel('Name of the run');
    await name.fill('Typed before');
    await own.call('DELETE', `/runs/${stopped}`);
    const readAgain = page.waitForResponse((response) => response.url().endsWith(`/runs/${stopped}`));
    await page.clock.fastForward(20_000);
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    expect((await readAgain).status()).toBe(404);
    // as long as an error would take to be shown
    await page.getByText('1 can be scored').waitFor();
    expect(await name.inputValue()).toBe('Typed before');
    await page.goto(`${own.url}/console/runs/new?dataset=${gone}`);
    await page.getByText('This dataset is not here any more. Choose another one.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const choice = page.getByRole('combobox', { name: 'Dataset' });
    await choice.click();
    await page.getByRole('option', { name: /^Far down / }).click();
    await page.getByText('This dataset is not here any more').waitFor({ state: 'detached' });
    await page.goto(`${own.url}/console/runs/new?dataset=${dataset}&version=7`);
    await page.getByText('This version is not here any more. Choose another one.').waitFor();
    await page.getByRole('combobox', { name: 'Version' }).click();
    await page.getByRole('option', { name: '1 (newest)' }).click();
    await page.getByText('This version is not here any more').waitFor({ state: 'detached' });
    await page.goto(`${own.url}/console/compare?runs=,.`);
    await page.getByText('Runs can be compared when they share items', { exact: false }).waitFor();
    // an address may have a handle
    await own.call('PATCH', `/datasets/${dataset}`, { handle: 'far-down' });
    await page.goto(`${own.url}/console/runs/new?dataset=far-down`);
    await expect.poll(() => choice.inputValue()).toMatch(/^Far down /);
    await page.getByRole('heading', { name: 'New run' }).waitFor();
    expect(faults).toEqual([]);
  });
});
