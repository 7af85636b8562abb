import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnConsole, startConsole } from './own-console.ts';

const COUNT = 20;
/** The buttons have the names of their keys. */
const RIGHT = /^Right ?1$/;
const WRONG = /^Wrong ?0$/;

let own: OwnConsole;
beforeAll(async () => {
  own = await startConsole({ reply: (prompt) => ({ text: /\d+/.exec(prompt)?.[0] ?? '' }) });
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
  await using opened = await own.browser.open(`/console/runs/${run}?columns=id,got,label`, {});
  const { page, faults } = opened;
  const rows = page.getByRole('listbox', { name: 'Results' }).getByRole('option');
  await rows.first().waitFor();
  const isChosen = (index: number): Promise<void> =>
    page
      .getByRole('option', { selected: true })
      .filter({ hasText: `What is ${index} + 0?` })
      .waitFor();
  for (let index = 0; index < COUNT; index += 1) {
    await page.keyboard.press('j');
    await isChosen(index);
    const name = index % 2 === 0 ? RIGHT : WRONG;
    const button = page.getByRole('button', { name });
    await button.waitFor();
    await page.keyboard.press(index % 2 === 0 ? '1' : '0');
    await page.getByRole('button', { name, pressed: true }).waitFor();
  }
  await rows.filter({ hasText: 'What is 19 + 0?' }).filter({ hasText: 'wrong' }).first().waitFor();
  // the same key again takes the label away
  await page.keyboard.press('0');
  await page.getByRole('button', { name: WRONG, pressed: false }).waitFor();
  type Labels = { readonly summary: Readonly<Record<string, unknown>> };
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
    .toMatchObject([{ verdict: 'fail', note: 'the unit is missing', types: ['no unit'], by: 'anonymous' }]);

  await page.getByRole('combobox', { name: 'Label' }).click();
  await page.getByRole('option', { name: 'labelled wrong' }).click();
  await page.getByText(`${COUNT / 2} results`, { exact: true }).waitFor();
  expect(faults).toEqual([]);
});
