import { afterAll, beforeAll, expect, it } from 'vitest';
import { barriersOf, countClicks } from './console-browser.ts';
import { KEYS, type OwnConsole, startConsole } from './own-console.ts';

const COUNT = 100;
/** The buttons have the names of their keys. */
const RIGHT = /^Right ?1$/;
const WRONG = /^Wrong ?0$/;

type Labels = { readonly summary: Readonly<Record<string, unknown>> };

let own: OwnConsole;
beforeAll(async () => {
  own = await startConsole({ hasKeys: true });
});
afterAll(() => own[Symbol.asyncDispose]());

it('labels are given by keys alone, shown in the table, chosen by it, and taken away', async () => {
  const items = Array.from({ length: COUNT }, (_, index) => ({
    id: `q-${index}`,
    type: 'exact',
    inputs: { prompt: `What is ${index} + 0?` },
    answer: `${index}`,
  }));
  const run = await own.run(await own.upload(items, 'Labelled'), { provider: { type: 'echo' } }, 'labelled');
  await using opened = await own.browser.open(`/console/runs/${run}?columns=id,got,label`, {
    key: KEYS.editor,
  });
  const { page, faults } = opened;
  const rows = page.getByRole('grid', { name: 'Results' }).getByRole('row');
  await rows.nth(1).waitFor();
  await page.keyboard.press('j');
  // kept by the browser
  await page.getByRole('switch', { name: 'Next after a label' }).click();
  const clicks = await countClicks(page);
  const isChosen = (index: number): Promise<void> =>
    page
      .getByRole('row', { selected: true })
      .filter({ hasText: `What is ${index} + 0?` })
      .waitFor();
  for (let index = 0; index < COUNT; index += 1) {
    await isChosen(index);
    const button = page.getByRole('button', { name: index % 2 === 0 ? RIGHT : WRONG, pressed: false });
    await button.waitFor();
    await page.keyboard.press(index % 2 === 0 ? '1' : '0');
  }
  await page.getByRole('button', { name: WRONG, pressed: true }).waitFor();
  // the row of the open result is in the window
  const { y = -1, height = 0 } = (await page.getByRole('row', { selected: true }).boundingBox()) ?? {};
  expect([y > 0, y + height <= 800]).toEqual([true, true]);
  await rows
    .filter({ hasText: `What is ${COUNT - 1} + 0?` })
    .filter({ hasText: 'wrong' })
    .first()
    .waitFor();
  expect(await clicks()).toBe(0);
  // the same key again takes the label away
  await page.keyboard.press('0');
  await page.getByRole('button', { name: WRONG, pressed: false }).waitFor();
  await expect
    .poll(async () => (await own.call<Labels>('GET', `/runs/${run}/labels`)).summary)
    .toMatchObject({ labels: COUNT - 1, pass: COUNT / 2, fail: COUNT / 2 - 1 });

  await page.keyboard.press('0');
  await page.getByRole('button', { name: WRONG, pressed: true }).waitFor();
  await page.getByLabel('Types of failure').first().fill('no unit');
  await page.keyboard.press('Enter');
  await page.getByLabel('Note').fill('the unit is missing');
  await page.keyboard.press('Tab');
  await expect
    .poll(async () => (await own.call<{ data: object[] }>('GET', `/runs/${run}/labels?type=no%20unit`)).data)
    .toMatchObject([{ verdict: 'fail', note: 'the unit is missing', types: ['no unit'], by: 'key 2' }]);

  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  await page.getByRole('combobox', { name: 'Label', exact: true }).click();
  await page.getByRole('option', { name: 'labelled wrong' }).click();
  await page.getByText(`${COUNT / 2} results`, { exact: true }).waitFor();
  expect(faults).toEqual([]);
});

it('shows the labels of each run, also where the browser goes from one to the other', async () => {
  const dataset = await own.upload(
    [{ id: 'q', type: 'exact', inputs: { prompt: '1' }, answer: '1' }],
    'Twice',
  );
  const config = { provider: { type: 'echo' } };
  const run = await own.run(dataset, config, 'first');
  // a label is of an output
  await own.run(dataset, { ...config, prompt_template: 'Say {prompt}' }, 'second');
  await using opened = await own.browser.open(`/console/runs/${run}`, { key: KEYS.editor });
  const { page, faults } = opened;
  await page.getByRole('grid', { name: 'Results' }).getByRole('row').nth(1).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('button', { name: RIGHT, pressed: false }).click();
  await page.getByRole('button', { name: RIGHT, pressed: true }).waitFor();
  await page.getByText('The same item in other runs').click();
  await page.getByRole('link', { name: 'second' }).click();
  await page.getByRole('heading', { name: 'second' }).waitFor();
  await page.getByRole('button', { name: RIGHT, pressed: false }).waitFor();
  // both are in memory now, and the same item is open in both
  await page.goBack();
  await page.getByRole('heading', { name: 'first' }).waitFor();
  await page.getByRole('button', { name: RIGHT, pressed: true }).waitFor();
  expect(faults).toEqual([]);

  await page.route('**/label', (route) => route.fulfill({ status: 500 }));
  await page.keyboard.press('0');
  await page.getByText('A label was not stored.', { exact: false }).waitFor();
});

it('a blind sample is labelled without scores, and every cell of the agreement opens its results', async () => {
  const items = Array.from({ length: 12 }, (_, index) => {
    const prompt = `Say ${index}`;
    return { id: `s-${index}`, type: 'exact', inputs: { prompt }, answer: index % 3 === 0 ? prompt : 'no' };
  });
  const run = await own.run(await own.upload(items, 'Judged'), { provider: { type: 'echo' } }, 'judged');
  await using opened = await own.browser.open(`/console/runs/${run}?tab=labels`, { key: KEYS.editor });
  const { page, faults } = opened;
  await page.getByText('Nobody has labelled an output of this run.').waitFor();
  await page.getByRole('textbox', { name: 'Results' }).fill('4');
  await page.getByRole('link', { name: 'Label a blind sample' }).click();
  await page.getByText('0 of 4 labelled', { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?sample=blind&n=4&seed=1');
  await page.keyboard.press('j');
  await page.getByRole('switch', { name: 'Next after a label' }).click();
  // one key a label: the next result opens by itself
  for (let index = 0; index < 4; index += 1) {
    await page.getByText(`${index + 1} of 4`, { exact: true }).waitFor();
    await page.getByRole('button', { name: RIGHT, pressed: false }).waitFor();
    await page.keyboard.press('1');
    await page.getByText(`${index + 1} of 4 labelled`, { exact: true }).waitFor();
  }
  expect(await page.getByText(/Score|not scored|Why|Latency|judged|Judged/).allInnerTexts()).toEqual([]);
  await expect
    .poll(async () => (await own.call<Labels>('GET', `/runs/${run}/labels`)).summary)
    .toMatchObject({ labels: 4, pass: 4, people: [{ by: 'key 2' }] });
  // an address that names a result tells as little
  await page.reload();
  await page.getByRole('button', { name: RIGHT, pressed: true }).waitFor();
  expect(await page.getByText(/Score|not scored|Why|Latency/).allInnerTexts()).toEqual([]);

  type Section = { readonly data: readonly { readonly section: string }[] };
  const section = (await own.call<Section>('GET', `/runs/${run}/results?limit=1`)).data[0]?.section;
  for (let index = 0; index < 12; index += 1)
    await own.call('PUT', `/runs/${run}/results/${section}/${index}/1/label`, {
      verdict: index % 2 === 0 ? 'pass' : 'fail',
      types: index % 4 === 1 ? ['no unit'] : [],
    });
  await page.getByRole('link', { name: 'End the blind sample' }).click();
  const cells = page.getByLabel('Cells of the agreement');
  const wrong = cells.getByRole('row', { name: /^people: wrong/ });
  await wrong.waitFor();
  await page.reload();
  await wrong.getByText('right for main only').waitFor();
  expect(await cells.getByRole('link').allInnerTexts()).toEqual(['2', '4', '2', '4']);
  expect(await barriersOf(page)).toEqual([]);
  const measures = page.getByLabel('Measures of agreement').getByRole('row');
  for (const name of ['Agreement', 'False passes', 'Base rate'])
    await measures.filter({ hasText: name }).filter({ hasText: '0.500' }).waitFor();
  await measures
    .filter({ hasText: 'kappa' })
    .filter({ hasText: '0.000' })
    .filter({ hasText: ' to ' })
    .waitFor();
  await wrong.getByRole('link', { name: '4' }).click();
  await page.getByText('4 results', { exact: true }).waitFor();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ label: 'fail', passed: 'false' });

  await page.goBack();
  await page.getByRole('button', { name: /no unit/ }).click();
  await page.getByText('3 results', { exact: true }).waitFor();
  await page.getByText('failure: no unit').waitFor();

  await page.goBack();
  await page.getByRole('combobox', { name: 'Person', exact: true }).click();
  await page.getByRole('option', { name: 'key 2' }).click();
  await page.getByRole('combobox', { name: 'Another person' }).click();
  await page.getByRole('option', { name: 'key 3' }).click();
  await cells.getByRole('columnheader', { name: 'key 3: right' }).waitFor();
  const cell = cells.getByRole('link').first();
  const count = Number(await cell.textContent());
  await cell.click();
  const listed = page.getByLabel('Results of the cell').getByRole('link');
  await listed.first().waitFor();
  expect(await listed.count()).toBe(count);
  await listed.first().click();
  await page.getByRole('button', { name: RIGHT, pressed: true }).waitFor();
  expect(faults).toEqual([]);
});
