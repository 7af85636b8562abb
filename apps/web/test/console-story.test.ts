import { mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { barriersOf, countClicks, focusList, overflowOf } from './console-browser.ts';
import { KEYS, type OwnConsole, startConsole } from './own-console.ts';

// The story that the images of the documents show: a cheaper model takes the place of a large one, and is worse.

/** Where images go: `docs/images` when they are to be written again. */
const IMAGES =
  process.env['WRITE_IMAGES'] === 'true'
    ? fileURLToPath(new URL('../../../docs/images', import.meta.url))
    : null;

type Question = readonly [section: string, difficulty: string, question: string, answer: string];

const QUESTIONS: readonly Question[] = [
  ['word problems', 'easy', 'A baker sells 12 rolls in each of 4 baskets. How many rolls are that?', '48'],
  ['word problems', 'easy', 'Lena reads 15 pages a day. How many pages does she read in a week?', '105'],
  [
    'word problems',
    'medium',
    'A train covers 180 km in 2 hours. How many km does it cover in 5 hours?',
    '450',
  ],
  ['word problems', 'medium', 'A shirt of 40 euros is reduced by 15 %. What does it cost in euros?', '34'],
  [
    'word problems',
    'hard',
    'Two pipes fill a tank in 6 and in 3 hours. How many hours do both take together?',
    '2',
  ],
  ['word problems', 'hard', 'A number is doubled, then 9 is added: 41. Which number was it?', '16'],
  ['word problems', 'medium', 'Six friends share 54 cherries. How many does each one get?', '9'],
  ['word problems', 'hard', 'A rectangle has an area of 84 and one side of 7. What is its perimeter?', '38'],
  ['science', 'easy', 'How many planets does the solar system have?', '8'],
  ['science', 'easy', 'At how many degrees Celsius does water boil at sea level?', '100'],
  ['science', 'medium', 'What is the atomic number of carbon?', '6'],
  ['science', 'medium', 'How many chromosomes does a human body cell have?', '46'],
  ['science', 'hard', 'How many bones does an adult human have?', '206'],
  ['science', 'hard', 'What is the atomic number of iron?', '26'],
  ['science', 'easy', 'How many legs does a spider have?', '8'],
  ['science', 'medium', 'How many continents does the Earth have?', '7'],
  ['history', 'easy', 'In which year did the Second World War end?', '1945'],
  ['history', 'easy', 'In which year did the Berlin Wall fall?', '1989'],
  ['history', 'medium', 'In which year did people first walk on the Moon?', '1969'],
  ['history', 'medium', 'In which year did the French Revolution begin?', '1789'],
  ['history', 'hard', 'In which year did Constantinople fall to the Ottomans?', '1453'],
  ['history', 'hard', 'In which year was the Magna Carta sealed?', '1215'],
  ['history', 'medium', 'In which year did Columbus reach America?', '1492'],
  ['history', 'hard', 'In which year was the Peace of Westphalia signed?', '1648'],
];

/** Answers that a model gets wrong, by question. */
const MISTAKES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'atlas-mini': {
    '34': 'The reduction is 15, so the shirt costs 25 euros.',
    '2': 'Together they take 6 + 3 hours, so 9.',
    '38': '84 : 7 = 12, so the perimeter is 12 + 7 = 19.',
    '206': 'A newborn has more. An adult has 300.',
    '26': 'Iron has the symbol Fe and the atomic number 56.',
    '1215': 'The Magna Carta was sealed in 1265.',
    '1648': 'The Thirty Years’ War began in 1618.',
  },
  'atlas-large': { '38': '84 : 7 = 12. The perimeter is 2 · (12 + 7) = 36.', '26': 'The number is 56.' },
};

let own: OwnConsole;
let dataset: string;
const runs: Record<string, string> = {};

beforeAll(async () => {
  let model = '';
  own = await startConsole({
    hasKeys: true,
    reply: (prompt) => {
      const [, , , answer = ''] = QUESTIONS.find(([, , question]) => prompt.includes(question)) ?? [];
      return { text: MISTAKES[model]?.[answer] ?? `Let me think step by step.\nThe answer is ${answer}.` };
    },
  });
  const rows = QUESTIONS.map(([subject, difficulty, question, answer]) =>
    JSON.stringify({ question, answer, subject, difficulty }),
  );
  own.hub.add({ id: 'acme/school-questions', files: { 'train.jsonl': `${rows.join('\n')}\n` } });
  const items = QUESTIONS.map(([subject, difficulty, question, answer], at) => ({
    id: `school-${at + 1}`,
    type: 'numeric',
    tags: [difficulty],
    inputs: { prompt: at === 5 ? question.replace('doubled', 'dubbled') : question },
    answer: Number(answer),
    meta: { subject, source: 'collected by hand' },
  }));
  dataset = await own.upload(items, 'School questions');
  for (const name of ['atlas-large', 'atlas-mini']) {
    model = name;
    const provider = { type: 'openai_compatible', base_url: own.provider.baseUrl, model: name };
    runs[name] = await own.run(dataset, { provider, concurrency: 1 }, name);
    if (name === 'atlas-mini') continue;
    const sixth = items[5];
    if (sixth === undefined) throw new Error('The story has six items at least.');
    const corrected = { ...sixth, inputs: { prompt: QUESTIONS[5]?.[2] } };
    await own.call('PATCH', `/datasets/${dataset}/items`, {
      edits: [{ item_id: sixth.id, item: corrected }],
      message: 'a typing error in the sixth question',
    });
  }
  if (IMAGES !== null) await mkdir(IMAGES, { recursive: true });
});
afterAll(() => own[Symbol.asyncDispose]());

/** Takes an image of the top of a page in both themes and three widths; the documents have one of them. */
async function look(page: Page, name: string): Promise<void> {
  for (const width of IS_LONG ? [390, 820, 1366] : [390, 1366]) {
    await page.setViewportSize({ width, height: 860 });
    expect([name, width, await overflowOf(page)]).toEqual([name, width, 0]);
  }
  await page.evaluate('scrollTo(0, 0)');
  if (IMAGES !== null) await page.screenshot({ path: `${IMAGES}/${name}.png` });
}

describe('the story of the documents', () => {
  it('shows a dataset, its history, by how much a cheaper model is worse, and what it gets wrong', async () => {
    await using opened = await own.browser.open(`/console/datasets/${dataset}`, { key: KEYS.admin });
    const { page, faults } = opened;
    await focusList(page, 'Items');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('heading', { name: 'school-1', exact: true }).waitFor();
    await look(page, 'dataset');

    await page.goto(`${own.url}/console/datasets/${dataset}?tab=history&from=1&to=2`);
    await page.locator('ins').getByText('doubled').waitFor();
    await look(page, 'history');

    await page.goto(`${own.url}/console/runs/${runs['atlas-mini']}?columns=question,expected,got,score`);
    await page.getByText('70.8 %').waitFor();
    await page.getByRole('row', { name: /^wrong A shirt of 40 euros/ }).click();
    await page.getByText('Read 25 from').first().waitFor();
    await look(page, 'run');

    await page.goto(`${own.url}/console/compare?runs=${runs['atlas-large']},${runs['atlas-mini']}`);
    await page.getByText(/^atlas-mini is worse by \d+\.\d points, 95 % CI/).waitFor();
    await page.getByRole('row', { name: /^school-4 A shirt of 40 euros/ }).waitFor();
    await page.getByRole('region', { name: 'Score against latency (50 %)' }).waitFor();
    await look(page, 'compare');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Report (one HTML file)' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('atlas-large and atlas-mini.html');
    const report = await readFile(await download.path(), 'utf8');
    for (const text of [
      'points, 95 % CI',
      'School questions, version 2',
      'provider.model',
      'A shirt of 40 euros',
      'so the shirt costs 25 euros',
      'school-5',
      '<svg',
    ])
      expect(report).toContain(text);
    expect(report).not.toContain('<script');

    await page.goto(`${own.url}/console/import?path=acme/school-questions`);
    await page.getByRole('group', { name: 'Mapping' }).waitFor();
    await page.getByRole('heading', { name: 'train-0' }).waitFor();
    await look(page, 'hub-import');
    expect(faults).toEqual([]);
  });

  it('keeps what a model got wrong: a corrected answer in 3 clicks, a copy, items from a table', async () => {
    await using opened = await own.browser.open(`/console/runs/${runs['atlas-mini']}`, { key: KEYS.admin });
    const { page, faults } = opened;
    const pane = page.getByRole('region', { name: 'Result', exact: true });
    const dialog = page.getByRole('dialog');
    const clicks = await countClicks(page);
    await page.getByRole('row', { name: /^wrong .*How many bones/ }).click();
    // in the order of thought
    await expect
      .poll(async () => (await pane.getByRole('heading').allTextContents()).slice(0, 7))
      .toEqual(['school-13', 'Question', 'Prompt', 'Expected', 'Got', 'Why', 'Output']);
    expect(await pane.locator('.result-head').textContent()).toMatch(/^school-13wrong\d+ m?s\d+ of 24$/);
    await pane.getByRole('button', { name: 'Correct the answer' }).click();
    await dialog.getByLabel('Expected answer, as JSON').fill('205');
    await dialog.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('Version 3 of the dataset has the corrected answer.').waitFor();
    expect(await clicks()).toBe(3);
    const { data } = await own.call<{ data: object[] }>('GET', `/datasets/${dataset}/versions?limit=1`);
    const said = `by the result of atlas-mini (run ${runs['atlas-mini']}): A newborn has more.`;
    expect(data).toMatchObject([
      { version: 3, change: { changed: 1 }, message: expect.stringContaining(said) },
    ]);

    await pane.getByRole('button', { name: 'Copy to dataset' }).click();
    await dialog.getByText('A new one').click();
    await dialog.getByLabel(/^Name/).fill('Known failures');
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('The item is copied.').waitFor();

    // the item of the run is not that of the newest version
    await pane.locator('details > summary').getByText('Item', { exact: true }).click();
    await pane.getByRole('link', { name: 'The item in the dataset as it is now' }).click();
    await page.getByText('The item was changed in version 3.').waitFor();
    await page.getByRole('link', { name: 'school-13 in version 3' }).click();
    await page.getByRole('region', { name: 'Item', exact: true }).getByText('205').waitFor();

    await page.getByRole('button', { name: 'Add items' }).click();
    await dialog.getByText('CSV', { exact: true }).click();
    await dialog.getByLabel('A table with a line of headings').fill('question,answer\nWhat is 6 × 7?,42\n');
    await dialog.getByText('numeric', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Version 4: 1 added.').waitFor();

    // a view of one dataset is one of each
    await page.getByLabel('Search items').fill('How many');
    await page.getByText('11 items', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Save view' }).click();
    await dialog.getByLabel(/^Name/).fill('Counts');
    await page.keyboard.press('Enter');
    await page.getByText('The view is saved in this browser.').waitFor();
    await page.goto(`${own.url}/console/datasets?q=Known`);
    await page.getByRole('row', { name: /Known failures/ }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Known failures', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem', { name: 'Counts', exact: true }).click();
    await expect.poll(() => page.getByLabel('Search items').inputValue()).toBe('How many');

    await page.getByRole('link', { name: 'Audit' }).click();
    const changes = page.getByRole('table', { name: 'Table of changes' });
    await changes.getByRole('row', { name: /dataset\.create Known failures/ }).waitFor();
    await page.getByRole('combobox', { name: 'Action' }).click();
    await page.getByRole('option', { name: 'dataset.change' }).click();
    await changes
      .getByRole('row', { name: /admin dataset\.change School questions/ })
      .first()
      .waitFor();
    await expect.poll(() => changes.getByRole('row', { name: /dataset\.create/ }).count()).toBe(0);
    expect(await barriersOf(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});

describe('the console of a service with keys', () => {
  it('asks for a key, offers what its role may do, and asks again when the session ends', async () => {
    await using opened = await own.browser.open('/console/datasets');
    const { page, faults } = opened;
    const signIn = async (key: string): Promise<void> => {
      await page.getByLabel(/^Key/).fill(key);
      await page.keyboard.press('Enter');
    };
    await page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    await signIn('a-wrong-key-of-the-tests');
    await page.getByRole('alert').getByText('This key is not known.').waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await signIn(KEYS.viewer);
    await page.getByRole('link', { name: 'School questions', exact: true }).click();
    await page.getByRole('button', { name: 'Export' }).waitFor();
    const actions = page
      .getByRole('button', { name: /^(?:Edit|Delete)$/ })
      .or(page.getByRole('link', { name: /^(?:New run|Upload|Hub import)$/ }));
    expect(await actions.count()).toBe(0);
    // the page keeps no key
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate<string>(kept)).not.toContain('key-of-the-tests');

    await page.getByLabel('Search items').fill('In which year');
    await page.getByText('8 items').waitFor();
    await page.context().clearCookies();
    await page.getByRole('tab', { name: 'Runs' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await signIn(KEYS.editor);
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('grid', { name: 'Table of runs' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('row', { name: 'Role editor' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to svc' }).waitFor();
    expect(faults).toEqual([]);
  });
});
