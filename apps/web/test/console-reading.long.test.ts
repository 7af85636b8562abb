import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOf, countClicks } from './console-browser.ts';
import { KEYS, type OwnConsole, startConsole } from './own-console.ts';

// What people read, and how they get about: items of every kind, the keyboard, and what happens when things go wrong.

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const fileOf = (mime_type: string, text: string) => {
  return { mime_type, encoding: 'base64', data: Buffer.from(text).toString('base64') };
};

let own: OwnConsole;
beforeAll(async () => {
  own = await startConsole({ hasKeys: true });
  const lines = (animal: string) =>
    Array.from({ length: 3 }, (_, at) =>
      JSON.stringify({ question: `${animal} ${at}?`, answer: 'yes' }),
    ).join('\n');
  own.hub.add({
    id: 'org/animals',
    files: {
      'README.md': `---\nconfigs:\n${['cats', 'dogs']
        .map(
          (name) =>
            `- config_name: ${name}\n  data_files:\n${['test', 'validation', 'dev']
              .map((split) => `  - split: ${split}\n    path: ${name}/${split}.jsonl\n`)
              .join('')}`,
        )
        .join('')}---\n`,
      ...Object.fromEntries(
        ['test', 'validation', 'dev'].flatMap((split) => [
          [`cats/${split}.jsonl`, lines(`Cat of ${split}`)],
          [`dogs/${split}.jsonl`, lines(`Dog of ${split}`)],
        ]),
      ),
    },
  });
});
afterAll(() => own[Symbol.asyncDispose]());

describe('the console', () => {
  it('asks for the subset of a hub dataset without a default, begins with its test, as MMLU is, and keeps the split', async () => {
    await using opened = await own.browser.open('/console/import', { key: KEYS.editor });
    const { page, faults } = opened;
    const clicks = await countClicks(page);
    await page.getByRole('combobox', { name: 'Dataset' }).fill('org/animals');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Subset (2)' }).click();
    await page.getByRole('option', { name: 'cats' }).click();
    await page.getByRole('region', { name: 'First rows' }).getByText('Cat of test 0?').waitFor();
    await page.getByRole('combobox', { name: 'Split' }).click();
    await page.getByRole('option', { name: 'dev' }).click();
    await page.getByRole('region', { name: 'First rows' }).getByText('Cat of dev 0?').waitFor();
    await page.getByRole('combobox', { name: 'Subset (2)' }).click();
    await page.getByRole('option', { name: 'dogs' }).click();
    await page.getByRole('region', { name: 'First rows' }).getByText('Dog of dev 0?').waitFor();
    await page.getByRole('button', { name: 'Check every row' }).click();
    await page.getByText('3 items, no invalid row').waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    expect(await clicks()).toBe(8);
    const { pathname } = new URL(
      (await page.getByRole('link', { name: 'Open the dataset' }).getAttribute('href')) ?? '',
      own.url,
    );
    const imported = await own.call<{ data: { item: object }[] }>(
      'GET',
      `/datasets/${pathname.split('/').at(-1)}/items`,
    );
    expect(imported.data).toHaveLength(3);
    expect(imported.data[0]?.item).toMatchObject({ inputs: { prompt: 'Dog of dev 0?' }, answer: 'yes' });
    // the address of the viewer names the subset
    await page
      .getByRole('combobox', { name: 'Dataset' })
      .fill(`${own.hub.endpoint}/datasets/org/animals/viewer/cats/test`);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'First rows' }).getByText('Cat of test 0?').waitFor();
    expect(faults).toEqual([]);
  });

  it('hides no part of an item', async () => {
    const call = {
      id: 'call-1',
      type: 'function',
      function: { name: 'find_weather', arguments: '{"city":"Cairo"}' },
    };
    const id = await own.upload(
      [
        {
          id: 'chat',
          tags: ['القاهرة'],
          inputs: {
            messages: [
              {
                role: 'user',
                name: 'Ada',
                content: [
                  { type: 'text', text: 'ما الطقس في (القاهرة) اليوم؟' },
                  { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
                ],
              },
              { role: 'assistant', content: null, tool_calls: [call] },
              { role: 'tool', tool_call_id: 'call-1', content: 'sunny' },
            ],
            tools: [{ type: 'function', function: { name: 'find_weather', description: 'Asks a station.' } }],
            context: 'A second text.',
          },
          criteria: [{ name: 'polite', weight: 2 }],
          meta: { source_url: 'https://example.org/1', nested: { deep: 1 } },
        },
        {
          id: 'code',
          type: 'code',
          inputs: { prompt: 'Write fib.\nIn Python.' },
          answer: 'def fib(n):\n    a, b = 0, 1\n    return a',
        },
        {
          id: 'choice',
          type: 'multiple_choice',
          inputs: { prompt: 'Which?', choices: ['one', 'two', 'three'] },
          answer: 2,
        },
        {
          id: 'empty',
          inputs: { prompt: '' },
          answer: 'x',
          assets: {
            picture: { mime_type: 'image/png', encoding: 'base64', data: PNG },
            rows: fileOf('text/csv', 'name,note\n"Ada, Countess",first\n<b>Bob</b>,"two\nlines"\n'),
            notes: fileOf('text/plain', 'A plain note.'),
            paper: fileOf('application/pdf', '%PDF-1.4'),
          },
        },
      ],
      'Of every kind',
    );
    await using opened = await own.browser.open(`/console/datasets/${id}?item=0-0`, { key: KEYS.viewer });
    const { page, faults } = opened;
    const item = page.getByRole('region', { name: 'Item', exact: true });
    await item.getByRole('region', { name: 'Call of find_weather' }).getByText('"city": "Cairo"').waitFor();
    await item.getByRole('heading', { name: 'tool: result of find_weather (call-1)' }).waitFor();
    await item.getByText('"name": "Ada"').waitFor();
    await item.getByRole('img', { name: 'message 1' }).waitFor();
    await item.getByText('Asks a station.').waitFor({ state: 'attached' });
    await item.getByRole('row', { name: 'context A second text.' }).waitFor();
    await item.getByRole('row', { name: 'source_url https://example.org/1' }).waitFor();
    await item.getByRole('row', { name: 'weight 2' }).waitFor();
    const directionOf = (text: string) =>
      item.getByText(text).evaluate((element) => getComputedStyle(element).direction);
    expect(await directionOf('ما الطقس')).toBe('rtl');
    const list = page.getByRole('grid', { name: 'Items' });
    expect(await list.getByText('ما الطقس').evaluate((element) => getComputedStyle(element).direction)).toBe(
      'rtl',
    );
    await list.getByText('(empty prompt)').waitFor();
    await list.locator('img.thumbnail').waitFor();

    await list.getByText('Write fib.').click();
    const code = item.locator('pre code');
    await code.locator('.hljs-keyword').first().waitFor();
    expect(await code.textContent()).toBe('def fib(n):\n    a, b = 0, 1\n    return a');
    const prompt = item.getByText('In Python.');
    expect(await prompt.evaluate((element) => (element as HTMLElement).textContent)).toBe(
      'Write fib.\nIn Python.',
    );
    // files in place, but for those that a browser does not show safely
    await list.getByText('(empty prompt)').click();
    const rows = item.getByRole('region', { name: 'Rows of rows' });
    await rows.getByRole('row', { name: 'Ada, Countess first' }).waitFor();
    await rows.getByRole('row', { name: '<b>Bob</b> two lines' }).waitFor();
    await item.getByText('A plain note.').waitFor();
    const paper = item.getByRole('figure').filter({ hasText: 'paper' });
    await paper.getByText('application/pdf, 8 B').waitFor();
    expect(await paper.getByRole('link', { name: 'Open' }).getAttribute('href')).toContain('/assets/');
    expect(await barriersOf(page)).toEqual([]);
    await list.getByText('Write fib.').click();
    // one switch for the whole console
    await page.getByText('Raw', { exact: true }).click();
    await list.getByText('Which?').click();
    await item.getByText('three').waitFor();
    expect(await item.getByRole('img', { name: 'the answer' }).locator('..').textContent()).toContain(
      'three',
    );
    await list.getByText('Write fib.').click();
    expect(await page.getByRole('radio', { name: 'Raw' }).isChecked()).toBe(true);
    expect(faults).toEqual([]);
  });

  it('is used with the keys alone: lists, search, help, and the way to a dataset', async () => {
    const items = Array.from({ length: 3_000 }, (_, at) => ({
      id: `n${at}`,
      inputs: { prompt: `P ${at}` },
      tags: at === 1_000 ? [] : ['monday'],
    }));
    await own.upload([{ id: 1, inputs: { prompt: 'Here?' } }], 'Elsewhere');
    const id = await own.upload(items, 'Long list');
    for (let at = 0; at < 8; at += 1)
      await own.upload([{ id: 2, inputs: { prompt: `${at}?` } }], `Newer ${at}`);
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.viewer });
    const { page, faults } = opened;
    const list = page.getByRole('grid', { name: 'Items' });
    const hasFocus = () => list.evaluate((element) => element === document.activeElement);
    await list.getByText('P 0', { exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'n0', exact: true }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: 'n2999', exact: true }).waitFor();
    await expect.poll(hasFocus).toBe(true);
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: 'n0', exact: true }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'n1', exact: true }).waitFor();
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'n0', exact: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('P 2999');
    await page.getByText('1 item', { exact: true }).waitFor();
    // in a field a letter is a letter
    expect(await page.getByLabel('Search items').inputValue()).toBe('P 2999');
    await page.getByLabel('Search items').fill('');
    await page.getByRole('combobox', { name: 'Tag' }).fill('mon');
    await page.getByRole('option', { name: 'monday' }).click();
    await page.getByText('2,999 items', { exact: true }).last().waitFor();
    // the end of a filtered list too
    await list.getByText('P 0', { exact: true }).click();
    await page.keyboard.press('End');
    await page.getByRole('heading', { name: 'n2999', exact: true }).waitFor();

    await page.keyboard.press('Control+k');
    const palette = page.getByRole('combobox', { name: 'Page, dataset, run or item' });
    await palette.waitFor();
    await page.keyboard.type('n2998');
    await page.getByRole('option', { name: 'Item n2998 (Long list)' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'n2998', exact: true }).waitFor();
    const named = new URL(page.url()).searchParams.get('item');
    const { data } = await own.call<{ data: { item_hash: string }[] }>(
      'GET',
      `/datasets/${id}/items?item_id=n2998`,
    );
    const hash = data[0]?.item_hash ?? '';
    expect(named).toBe(hash);
    // one Escape closes it; items of all datasets are found
    await page.keyboard.press('Control+k');
    await palette.fill('n29');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await page.goto(`${own.url}/console/datasets`);
    await page.getByRole('grid', { name: 'Table of datasets' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.fill(hash);
    await page.getByRole('option', { name: `Item ${hash.slice(0, 12)} (Long list)` }).waitFor();
    await palette.fill('Elsewh');
    await page.getByRole('option', { name: 'Elsewhere' }).waitFor();
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: 'Elsewhere', level: 1 });
    await heading.waitFor();
    expect(faults).toEqual([]);
  });

  it('offers in the palette what can be done with the open page, and where one has been', async () => {
    const id = await own.upload([{ id: 1, inputs: { prompt: 'Here?' } }], 'Looked at');
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.editor });
    const { page, faults } = opened;
    const heading = page.getByRole('heading', { name: 'Looked at', level: 1 });
    await heading.waitFor();
    const open = async (): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'Settings' }).waitFor();
    };
    const within = (group: string) =>
      page.getByRole('group', { name: group }).getByRole('option').allTextContents();
    await open();
    expect(await within('To do')).toEqual(['Run this dataset']);
    // its list is a part of the dialog, and ends within it
    const [dialog, list] = await Promise.all([
      page.getByRole('dialog', { name: 'Go to' }).boundingBox(),
      page.getByRole('listbox', { name: 'Found' }).boundingBox(),
    ]);
    expect(list?.x).toBeGreaterThanOrEqual(dialog?.x ?? 0);
    expect((list?.x ?? 0) + (list?.width ?? 9_999)).toBeLessThanOrEqual(
      (dialog?.x ?? 0) + (dialog?.width ?? 0),
    );
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New run', level: 1 }).waitFor();
    expect(page.url()).toContain(`dataset=${id}`);
    await open();
    expect((await within('Recent'))[0]).toBe('Looked at');
    await page.keyboard.press('Enter');
    await heading.waitFor();
    expect(faults).toEqual([]);
  });

  it('puts the focus on the heading after a click on a link', async () => {
    await using opened = await own.browser.open('/console/datasets', { key: KEYS.viewer });
    const { page, faults } = opened;
    await page.getByRole('link', { name: 'Long list' }).click();
    const heading = page.getByRole('heading', { name: 'Long list', level: 1 });
    await heading.waitFor();
    await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
    // nor does it fall to the body where its element goes
    await page.getByRole('link', { name: 'Datasets' }).click();
    await page.getByLabel('Search datasets').fill('Long');
    const clear = page.getByRole('button', { name: 'Clear' });
    await clear.focus();
    await page.keyboard.press('Enter');
    await clear.waitFor({ state: 'detached' });
    const datasets = page.getByRole('grid', { name: 'Table of datasets' });
    await expect.poll(() => datasets.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(faults).toEqual([]);
  });

  it('says that no dataset matches the filters', async () => {
    await using opened = await own.browser.open('/console/datasets?q=unheard', { key: KEYS.viewer });
    await opened.page.getByText('No dataset matches the filters.').waitFor();
    expect(opened.faults).toEqual([]);
  });

  it('keeps a filter whose option is chosen again', async () => {
    const id = await own.upload([{ id: 1, type: 'numeric', inputs: { prompt: 'One?' } }], 'One');
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.viewer });
    const { page, faults } = opened;
    for (const _ of [1, 2]) {
      await page.getByRole('combobox', { name: 'Type' }).click();
      await page.getByRole('option', { name: 'numeric', exact: true }).click();
    }
    expect(await page.getByRole('combobox', { name: 'Type' }).inputValue()).toBe('numeric');
    expect(page.url()).toContain('type=numeric');
    expect(faults).toEqual([]);
  });

  it('clears a filter that was typed a moment ago, and keeps what is typed while one takes effect', async () => {
    const id = await own.upload([{ id: 1, type: 'numeric', inputs: { prompt: 'One?' } }], 'Cleared');
    await using opened = await own.browser.open(`/console/datasets/${id}?type=numeric`, {
      key: KEYS.viewer,
      hasClock: true,
    });
    const { page, faults } = opened;
    const q = page.getByRole('textbox', { name: 'Search items' });
    await page.getByText('1 item', { exact: true }).first().waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    await q.fill('nothing');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.clock.runFor(1_000);
    await expect.poll(() => page.url()).not.toContain('type=');
    await page.clock.runFor(1_000);
    expect(page.url()).not.toContain('q=');
    expect(await q.inputValue()).toBe('');
    await q.fill('o');
    await page.clock.runFor(299);
    await q.press('n');
    expect(page.url()).not.toContain('q=');
    await page.clock.runFor(1_000);
    await expect.poll(() => page.url()).toContain('q=on');
    // going back takes the text out of the field, also one that has not taken effect
    await q.press('e');
    await page.evaluate(
      `history.replaceState(history.state, '', location.pathname); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await expect.poll(() => q.inputValue()).toBe('');
    await page.clock.runFor(1_000);
    expect(await q.inputValue()).toBe('');
    expect(faults).toEqual([]);
  });

  it('waits with a page whose code cannot be loaded', async () => {
    await using opened = await own.browser.open('/console/settings', { key: KEYS.viewer });
    const { page } = opened;
    await page.route(/assets\/jobs-page/, (route) => route.abort());
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page
      .getByRole('alert')
      .getByText('The service does not respond.', { exact: false })
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: 'Jobs' }).count()).toBe(1);
    await page.unroute(/assets\/jobs-page/);
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    await page
      .getByText(/No jobs yet|succeeded/)
      .first()
      .waitFor();
  });

  it('ends the tour with a score between 0 and 1, and a wrong answer', async () => {
    await using opened = await own.browser.open('/console/datasets', {
      hasSeenTour: false,
      key: KEYS.editor,
    });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Take the tour', exact: true }).click();
    const tour = page.getByRole('complementary', { name: 'Tour' });
    await tour.getByRole('button', { name: 'Add the example' }).click();
    await page.getByText('2 of 4: Look at an item').waitFor();
    const id = page.url().split('/').at(-1);
    await page.getByRole('grid', { name: 'Items' }).getByRole('row').nth(1).click();
    await page.getByText('3 of 4: Run it').waitFor();
    // what the items hold may be known only after the first choice
    const held = Promise.withResolvers<void>();
    await page.route('**/items.jsonl*', async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('link', { name: 'New run' }).click();
    await page.getByText('Answers in the items', { exact: true }).click();
    expect(await page.getByRole('combobox', { name: 'Pointer' }).inputValue()).toBe('/answer');
    held.resolve();
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Pointer' }).inputValue())
      .toBe('/meta/pretend_output');
    await page.getByText('7 can be scored').waitFor();
    await page.getByRole('button', { name: 'Run on all' }).click();
    await page.getByText('4 of 4: See the score').waitFor();
    await page.getByText(/^0\.714 ± /).waitFor();
    await page.getByRole('row', { name: /^wrong af-2 .* Dakar Banjul/ }).click();
    await page.getByRole('region', { name: 'Result', exact: true }).getByText('Banjul').first().waitFor();
    expect(faults).toEqual([]);
    for (const run of (await own.call<{ data: { id: string }[] }>('GET', `/runs?dataset_id=${id}`)).data)
      await own.call('DELETE', `/runs/${run.id}`);
    await own.call('DELETE', `/datasets/${id}`);
  });

  it('says that files cannot be opened where the code for it cannot be loaded', async () => {
    await using opened = await own.browser.open('/console/upload', { key: KEYS.editor });
    const { page } = opened;
    await page.route(/inspect-worker/, (route) => route.abort());
    const file = { name: 'one.jsonl', mimeType: 'text/plain', buffer: Buffer.from('{"inputs":{}}\n') };
    await page.getByLabel('Files').setInputFiles(file);
    await page.getByRole('alert').getByText('What opens files cannot be loaded.').waitFor();
    await page.unroute(/inspect-worker/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('Files').setInputFiles(file);
    await page.getByText('default (1)').waitFor();
  });

  it('asks before an upload is left, and ends it with the page', async () => {
    await using opened = await own.browser.open('/console/upload', { key: KEYS.editor });
    const { page, faults } = opened;
    const held = Promise.withResolvers<void>();
    await page.route('**/datasets/upload', async (route) => {
      await held.promise;
      await route.abort();
    });
    const lines = '{"id":1,"inputs":{"prompt":"Half sent?"}}\n';
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'half.jsonl', mimeType: 'text/plain', buffer: Buffer.from(lines) });
    await page.getByText('default (1)').waitFor();
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('link', { name: 'Runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave during the upload?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('half.jsonl').waitFor();
    // another file ends it, too
    const ended = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/datasets/upload'));
    await page.getByRole('button', { name: 'Choose another file' }).click();
    await ended;
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'half.jsonl', mimeType: 'text/plain', buffer: Buffer.from(lines) });
    await page.getByText('default (1)').waitFor();
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('link', { name: 'Runs' }).click();
    await dialog.getByRole('button', { name: 'End it and leave' }).click();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    held.resolve();
    expect(faults.filter((fault) => !fault.includes('net::ERR_'))).toEqual([]);
  });

  it('shows the next user nothing that only the one before may read', async () => {
    await own.upload([{ id: 1, inputs: { prompt: 'One?' } }], 'Audited');
    await using opened = await own.browser.open('/console/audit', { key: KEYS.admin });
    const { page } = opened;
    const rows = page.getByLabel('Table of changes').getByRole('row');
    await rows.nth(1).waitFor();
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel(/^Key/).fill(KEYS.viewer);
    await page.keyboard.press('Enter');
    await page.getByText('viewer', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('alert').waitFor();
    expect(await rows.count()).toBe(0);
  });

  it('tells a viewer what the key may not do, and names a key that it does not know', async () => {
    await using opened = await own.browser.open('/console/upload', { hasSeenTour: false });
    const { page, faults } = opened;
    await page.getByLabel(/^Key/).fill('a-wrong-key-of-the-tests');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('This key is not known.').waitFor();
    await page.getByLabel(/^Key/).fill(KEYS.viewer);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Not allowed' }).waitFor();
    expect(await page.getByRole('button', { name: 'Choose files' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Datasets' }).click();
    await page.getByRole('heading', { name: 'Datasets' }).waitFor();
    expect(await page.getByText('New here?').count()).toBe(0);
    for (const list of ['datasets', 'runs']) {
      await page.goto(`${own.url}/console/${list}/00000000-0000-4000-8000-000000000000`);
      await page.getByRole('link', { name: `All ${list}`, exact: true }).waitFor();
    }
    expect(faults).toEqual([]);
  });
});
