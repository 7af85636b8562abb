import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriersOf, focusList, overflowOf } from './console-browser.ts';
import { KEYS, type OwnConsole, startConsole } from './own-console.ts';

// A dataset is corrected and extended in the console, and each score belongs to the version that it was made on.

const CAPITALS = { France: 'Paris', Peru: 'Lima', Kenya: 'Nairobi', Japan: 'Tokyo' } as const;
const TYPING_ERROR = 'What is the capital of Frnace?';

let own: OwnConsole;
beforeAll(async () => {
  own = await startConsole({
    hasKeys: true,
    reply: (prompt) => ({
      text: Object.entries(CAPITALS).find(([country]) => prompt.includes(country))?.[1] ?? 'I do not know.',
    }),
  });
});
afterAll(() => own[Symbol.asyncDispose]());

const itemOf = (country: keyof typeof CAPITALS, prompt = `What is the capital of ${country}?`) => ({
  id: country.toLowerCase(),
  type: 'exact',
  inputs: { prompt },
  answer: CAPITALS[country],
  meta: { continent: 'a continent' },
});

const linesOf = (...items: readonly object[]): string => items.map((item) => JSON.stringify(item)).join('\n');

/** Runs the dataset of the page with the loopback provider. @returns the address of the run */
async function runHere(page: Page, button: string, name: string): Promise<string> {
  await page.getByRole('link', { name: button, exact: true }).click();
  await page.getByRole('combobox', { name: 'Base URL' }).fill(own.provider.baseUrl);
  await page.getByRole('combobox', { name: 'Model', exact: true }).fill('atlas-1');
  await page.getByLabel('Name of the run').fill(name);
  await page.getByText(/\d can be scored/).waitFor();
  await page.getByRole('button', { name: 'Run on all' }).click();
  await page.waitForURL(/\/console\/runs\/[0-9a-f-]{36}/);
  await page.getByText('completed').waitFor();
  return page.url().split('/').at(-1) ?? '';
}

describe('versions of a dataset', () => {
  it('lead a new user from an upload to two scores, a correction between them, and the export of the old state', async () => {
    await using opened = await own.browser.open('/console/upload', { key: KEYS.admin });
    const { page, faults, requests } = opened;
    const buffer = Buffer.from(linesOf(itemOf('France', TYPING_ERROR), itemOf('Peru')));
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'capitals.jsonl', mimeType: 'application/jsonl', buffer });
    await page.getByLabel('Handle').fill('Capitals');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('link', { name: 'Open the dataset' }).click();
    await page.getByRole('button', { name: 'Copy handle' }).waitFor();
    const before = await runHere(page, 'New run', 'Before');
    await page.getByText('50.0 %').waitFor();

    // the failure of last night, which first lacks a bracket
    await page.goto(`${own.url}/console/datasets/capitals`);
    await page.getByRole('button', { name: 'Add items' }).click();
    const adding = page.getByRole('dialog', { name: 'Add items' });
    // a table is looked at when typing pauses, not at each key
    await adding.getByText('CSV', { exact: true }).click();
    await adding
      .getByLabel('A table with a line of headings')
      .pressSequentially('question,answer\nWhat is the capital of Kenya?,Nairobi');
    await adding.getByRole('region', { name: 'First rows' }).getByText('Nairobi').waitFor();
    expect(requests.filter((request) => request.includes('/upload/preview')).length).toBeLessThan(20);
    await adding.getByText('JSON Lines', { exact: true }).click();
    const lines = adding.getByLabel('Items, one JSON object a line');
    await lines.fill(linesOf(itemOf('Kenya')).slice(0, -1));
    await adding.getByRole('button', { name: 'Add', exact: true }).click();
    await adding.getByText('pasted.jsonl:1').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await lines.fill(linesOf(itemOf('Kenya', 'Which city is the capital of Kenia?')));
    await adding.getByLabel('Message').fill('the failure of last night');
    await adding.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Version 2: 1 added.').waitFor();
    await page.getByText('3 items', { exact: true }).first().waitFor();

    // a typing error
    await page.getByRole('row', { name: TYPING_ERROR }).click();
    const pane = page.getByRole('region', { name: 'Item', exact: true });
    await pane.getByRole('button', { name: 'Edit item' }).click();
    const editor = pane.getByRole('group', { name: 'Edit the item' });
    await editor.getByLabel('Prompt').fill('What is the capital of France?');
    await editor.getByLabel('Metadata, as JSON').fill('{"continent": ');
    await editor.getByRole('button', { name: 'Save as a new version' }).click();
    await editor.getByText('The item was not saved: see the marked fields.').waitFor();
    await editor.getByText(/^Invalid JSON: .* \(line 1, column \d+\)\.$/).waitFor();
    await editor.getByLabel('Metadata, as JSON').fill('["not", "an object"]');
    await editor.getByRole('button', { name: 'Save as a new version' }).click();
    await editor.getByText('This must be an object, got an array').waitFor();
    expect(await editor.getByLabel('Metadata, as JSON').getAttribute('aria-invalid')).toBe('true');
    expect(await barriersOf(page)).toEqual([]);
    await editor.getByLabel('Metadata, as JSON').fill('{"continent": "Europe"}');
    await editor.getByLabel('Message').fill('a typing error');
    await editor.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('Version 3: 1 changed.').waitFor();
    await pane.getByText('What is the capital of France?').waitFor();
    const after = await runHere(page, 'New run', 'After');
    await page.getByText('Capitals, version 3').or(page.getByText('capitals, version 3')).waitFor();

    // both scores, each with its version
    await page.goto(`${own.url}/console/compare?runs=${before},${after}`);
    await page.getByRole('row', { name: /^Before capitals, version 1 / }).waitFor();
    await page.getByRole('row', { name: /^After capitals, version 3 / }).waitFor();

    // what changed, word by word
    await page.goto(`${own.url}/console/datasets/capitals?tab=history`);
    const history = page.getByRole('grid', { name: 'Table of versions' });
    await history
      .getByRole('row', {
        name: /newest a typing error ?items edited.* Changes of version 3: 1 changed 3 1 key 3 just now/,
      })
      .waitFor();
    await history
      .getByRole('row', {
        name: /2 the failure of last night ?items added.* Changes of version 2: 1 added 3 – key 3/,
      })
      .waitFor();
    await history.getByRole('row', { name: /1 uploaded.* the first version.* 2 1 key 3/ }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await history.getByRole('button', { name: 'Changes of version 3: 1 changed' }).click();
    const differences = page.getByRole('list', { name: 'Differences' });
    const prompt = differences.getByRole('region', { name: 'inputs › prompt' });
    expect(await prompt.first().locator('del').textContent()).toBe('Frnace');
    expect(await prompt.last().locator('ins').textContent()).toBe('France');
    await differences.getByRole('region', { name: 'meta › continent after' }).getByText('Europe').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'All versions' }).click();
    await history.getByRole('checkbox', { name: 'Choose version 1' }).click();
    await history.getByRole('checkbox', { name: 'Choose version 3' }).click();
    await page.getByRole('button', { name: 'Compare two versions' }).click();
    await page.getByText('added (1)').waitFor();
    // an item of one version only is named by what it asks
    await differences.getByRole('heading', { name: 'Which city is the capital of Kenia?' }).waitFor();
    expect(page.url()).toContain('from=1&to=3');
    // they are not those of the next two, while these are read
    const { promise: isAwaited, resolve: answer } = Promise.withResolvers<void>();
    await page.route(/\/diff\//, async (route) => {
      await isAwaited;
      await route.continue();
    });
    await page.getByRole('combobox', { name: 'To version' }).click();
    await page.getByRole('option', { name: '2: the failure of last night' }).click();
    await differences.waitFor({ state: 'hidden' });
    answer();
    await page.getByText('changed (0)').waitFor();
    await page.unroute(/\/diff\//);

    // the old state
    await page.goto(`${own.url}/console/datasets/capitals?version=1`);
    await page.getByText(/^This is version 1\./).waitFor();
    await page.getByText('2 items', { exact: true }).first().waitFor();
    await page.getByRole('row', { name: TYPING_ERROR }).click();
    await pane.getByText(TYPING_ERROR).waitFor();
    expect(await page.getByRole('button', { name: 'Edit item' }).count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Export version 1' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'JSON Lines' }).click();
    const downloaded = await (await downloading).createReadStream();
    const text = Buffer.concat(await downloaded.toArray()).toString();
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).inputs.prompt),
    ).toEqual([TYPING_ERROR, 'What is the capital of Peru?']);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Version' }).click();
    await page.getByRole('option', { name: '2: the failure of last night' }).click();
    await page.getByText('3 items', { exact: true }).first().waitFor();
    await page.getByRole('row', { name: TYPING_ERROR }).waitFor();
    await page.getByRole('link', { name: 'version 3' }).click();
    await page.getByRole('row', { name: 'What is the capital of France?' }).waitFor();
    for (const width of [390, 768, 1360]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await overflowOf(page)]).toEqual([width, 0]);
    }
    expect(faults).toEqual([]);
  });

  it('are restored and deleted after a confirmation, and offered to roles that may', async () => {
    const id = await own.upload([itemOf('Japan')], 'Restored');
    await own.call('PATCH', `/datasets/${id}/items`, {
      edits: [{ item_id: 'japan', item: itemOf('Japan', 'The capital of Japan?') }],
    });
    const { version_hash } = await own.call<{ version_hash: string }>('GET', `/datasets/${id}?version=1`);
    await using opened = await own.browser.open(`/console/datasets/${id}?tab=history`, { key: KEYS.admin });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Version 3: 1 changed.').waitFor();
    await page.getByRole('row', { name: /3 ?newest Restore version 1/ }).waitFor();
    expect(await own.call('GET', `/datasets/${id}`)).toMatchObject({ version: 3, version_hash });
    await page.getByRole('button', { name: 'Delete version 2' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete for good' }).click();
    await page.getByText('Deleted version 2.').waitFor();
    await page.getByRole('button', { name: 'Delete version 2' }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    for (const [key, restores] of [
      [KEYS.viewer, 0],
      [KEYS.editor, 1],
    ] as const) {
      await using seen = await own.browser.open(`/console/datasets/${id}?tab=history&item=0-0`, { key });
      await seen.page.getByRole('row', { name: /1 uploaded/ }).waitFor();
      expect(await seen.page.getByRole('button', { name: /^Restore/ }).count()).toBe(restores);
      expect(await seen.page.getByRole('button', { name: /^Delete version/ }).count()).toBe(0);
      await seen.page.getByRole('tab', { name: 'Items' }).click();
      await seen.page.getByRole('heading', { name: 'japan' }).waitFor();
      expect(await seen.page.getByRole('button', { name: 'Edit item' }).count()).toBe(restores);
      expect(await seen.page.getByRole('button', { name: 'Add items' }).count()).toBe(restores);
    }
  });

  it('tell who was faster, and keep what was typed', async () => {
    const id = await own.upload([itemOf('Japan'), itemOf('Peru')], 'Contested');
    await using opened = await own.browser.open(`/console/datasets/${id}?item=0-0`, { key: KEYS.editor });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Edit item' }).click();
    const editor = page.getByRole('group', { name: 'Edit the item' });
    await editor.getByText('Whole JSON').click();
    const json = editor.getByLabel('Item');
    await json.fill((await json.inputValue()).replace('What is the capital of Japan?', 'Capital of Japan?'));
    await own.call('PATCH', `/datasets/${id}/items`, {
      edits: [{ item_id: 'peru', remove: true }],
      message: 'Peru leaked',
    });
    await editor.getByRole('button', { name: 'Save as a new version' }).click();
    await editor.getByText(/^Version 2 by key 3, just now: 1 removed – Peru leaked\./).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await editor.getByRole('button', { name: 'Reload the dataset' }).click();
    await page.getByText('1 item', { exact: true }).first().waitFor();
    expect(await json.inputValue()).toContain('Capital of Japan?');
    await editor.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('Version 3: 1 changed.').waitFor();
    await page.getByRole('button', { name: 'Remove item' }).click();
    // what takes its place cannot be read, but the item is removed
    await page.route(/\/items\?.*from=/, (route) => route.fulfill({ status: 500 }));
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Version 4: 1 removed.').waitFor();
    expect(await own.call('GET', `/datasets/${id}`)).toMatchObject({ version: 4, item_count: 0 });
    expect(faults).toEqual([]);
  });

  it('keep what was typed also if the item itself was changed or removed, and say so', async () => {
    const id = await own.upload([itemOf('France'), itemOf('Japan'), itemOf('Peru')], 'Both edit');
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.editor });
    const { page, faults } = opened;
    await page.getByRole('row', { name: 'What is the capital of Japan?' }).click();
    await page.getByRole('button', { name: 'Edit item' }).click();
    const editor = page.getByRole('group', { name: 'Edit the item' });
    const prompt = editor.getByLabel('Prompt');
    const save = editor.getByRole('button', { name: 'Save as a new version' });
    await prompt.fill('Which city is the capital of Japan?');
    // an item before it is removed, so that another one is at its place
    await own.call('PATCH', `/datasets/${id}/items`, { edits: [{ item_id: 'france', remove: true }] });
    await save.click();
    await editor.getByRole('button', { name: 'Reload the dataset' }).click();
    await page.getByText('2 items', { exact: true }).first().waitFor();
    await expect.poll(() => save.isEnabled()).toBe(true);
    expect(await prompt.inputValue()).toBe('Which city is the capital of Japan?');
    await own.call('PATCH', `/datasets/${id}/items`, {
      edits: [{ item_id: 'japan', item: { ...itemOf('Japan'), answer: 'Kyoto' } }],
    });
    await save.click();
    await editor.getByRole('button', { name: 'Reload the dataset' }).click();
    const notice = editor
      .getByRole('alert')
      .filter({ hasText: 'The item itself was changed in the meantime' });
    await notice.getByText('"answer": "Kyoto"').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    expect(await prompt.inputValue()).toBe('Which city is the capital of Japan?');
    await editor.getByLabel('Answer').fill('Kyoto, Tokyo');
    await save.click();
    await page.getByText('Version 4: 1 changed.').waitFor();
    await page.getByRole('button', { name: 'Edit item' }).click();
    await prompt.fill('What is the capital of the country Japan?');
    await own.call('PATCH', `/datasets/${id}/items`, { edits: [{ item_id: 'japan', remove: true }] });
    await save.click();
    await editor.getByRole('button', { name: 'Reload the dataset' }).click();
    await editor.getByText('The item is not here any more').waitFor();
    expect(await prompt.inputValue()).toBe('What is the capital of the country Japan?');
    expect(await save.isEnabled()).toBe(false);
    const { data } = await own.call<{ data: { item: object }[] }>('GET', `/datasets/${id}/items?version=4`);
    expect(data[0]?.item).toEqual({
      ...itemOf('Japan', 'Which city is the capital of Japan?'),
      answer: 'Kyoto, Tokyo',
    });
    expect(faults).toEqual([]);
  });

  it('ask before what was typed is lost', async () => {
    const id = await own.upload([itemOf('France'), itemOf('Japan')], 'Left');
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.editor });
    const { page, faults } = opened;
    const france = page.getByRole('row', { name: 'What is the capital of France?' });
    const japan = page.getByRole('row', { name: 'What is the capital of Japan?' });
    const prompt = page.getByRole('group', { name: 'Edit the item' }).getByLabel('Prompt');
    const question = page.getByRole('dialog', { name: 'Leave what you typed?' });
    await france.click();
    await page.getByRole('button', { name: 'Edit item' }).click();
    await prompt.waitFor();
    // nothing was typed
    await japan.click();
    await page.getByRole('button', { name: 'Edit item' }).click();
    await prompt.fill('Which city?');
    for (const leave of [
      () => france.click(),
      () => page.getByRole('tab', { name: 'Overview' }).click(),
      () => page.getByRole('link', { name: 'Runs', exact: true }).click(),
      () => page.goBack(),
      // a filter closes the item
      () => page.getByLabel('Search items').fill('France'),
    ]) {
      await leave();
      await question.waitFor();
      expect(await barriersOf(page)).toEqual([]);
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'hidden' });
      expect(await prompt.inputValue()).toBe('Which city?');
    }
    await france.click();
    await question.getByRole('button', { name: 'Discard it and leave' }).click();
    await page.getByRole('region', { name: 'Item', exact: true }).getByText('capital of France').waitFor();
    expect(await prompt.count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('leave the links to other items as they are, and the focus on the list', async () => {
    const equal = itemOf('Peru');
    const id = await own.upload([itemOf('Japan'), equal, equal, itemOf('Kenya')], 'Linked');
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.editor });
    const { page, faults } = opened;
    const chosen = page.getByRole('grid', { name: 'Items' }).locator('[data-current=true]');
    const isAt = (row: number): Promise<void> =>
      expect.poll(() => chosen.getAttribute('aria-rowindex')).toBe(String(row + 1));
    await focusList(page, 'Items');
    // equal items are passed one by one
    for (const row of [1, 2, 3, 4]) {
      await page.keyboard.press('ArrowDown');
      await isAt(row);
    }
    await page.getByRole('heading', { name: 'kenya' }).waitFor();
    const link = page.url();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: 'japan' }).waitFor();
    await page.getByRole('button', { name: 'Remove item' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Version 2: 1 removed.').waitFor();
    // what has taken its place is open
    await page.getByRole('heading', { name: 'peru' }).waitFor();
    await isAt(1);
    await expect.poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Items');
    await page.goto(link);
    await page.getByRole('heading', { name: 'kenya' }).waitFor();
    await isAt(3);
    expect(faults).toEqual([]);
  });

  it('are described by two people at once, each of whom keeps what the other wrote', async () => {
    const id = await own.upload([itemOf('Japan')], 'Described');
    await using opened = await own.browser.open(`/console/datasets/${id}`, { key: KEYS.editor });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the dataset' });
    await dialog.getByLabel('Notes').fill('Notes of one');
    await own.call('PATCH', `/datasets/${id}`, {
      description: 'Description of the other',
      handle: 'described',
    });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await own.call('GET', `/datasets/${id}`)).toMatchObject({
      ...{ description: 'Description of the other', handle: 'described', notes: 'Notes of one' },
    });
    expect(faults).toEqual([]);
  });

  it('keep the files of an item whose text is edited', async () => {
    const data = Buffer.from('{"a": "file"}').toString('base64');
    const file = { mime_type: 'application/json', encoding: 'base64', data };
    const id = await own.upload([{ ...itemOf('Japan'), assets: { map: file } }], 'With a file');
    await using opened = await own.browser.open(`/console/datasets/${id}?item=0-0`, { key: KEYS.editor });
    const { page, faults } = opened;
    await page.getByRole('button', { name: 'Edit item' }).click();
    const editor = page.getByRole('group', { name: 'Edit the item' });
    await editor.getByLabel('Answer').fill('Edo');
    await editor.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('Version 2: 1 changed.').waitFor();
    const { data: items } = await own.call<{ data: { item: object }[] }>('GET', `/datasets/${id}/items`);
    expect(items[0]?.item).toEqual({ ...itemOf('Japan'), answer: 'Edo', assets: { map: file } });
    expect(faults).toEqual([]);
  });
});
