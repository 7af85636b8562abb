import { afterAll, beforeAll, expect, it } from 'vitest';
import { KEYS, type OwnConsole, startConsole } from './own-console.ts';

let own: OwnConsole;
beforeAll(async () => {
  own = await startConsole({ hasKeys: true });
});
afterAll(() => own[Symbol.asyncDispose]());

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const HOST = 'https://images.example';

it('shows images of other hosts after one click, which the browser remembers, and never by itself', async () => {
  const id = await own.upload(
    [
      {
        id: 'q',
        inputs: {
          messages: [
            { role: 'user', content: [{ type: 'image_url', image_url: { url: `${HOST}/message` } }] },
          ],
        },
        assets: {
          named: { mime_type: 'image/png', url: `${HOST}/asset.png` },
          page: { mime_type: 'text/html', url: `${HOST}/page.html` },
          plain: { mime_type: 'image/png', url: 'http://images.example/plain.png' },
          inside: { mime_type: 'image/png', url: 'https://127.0.0.1/inside.png' },
        },
      },
    ],
    'Images elsewhere',
  );
  await using opened = await own.browser.open(`/console/datasets/${id}?item=0-0`, { key: KEYS.viewer });
  const { page, faults } = opened;
  const asked: { readonly url: string; readonly referrer: string | undefined }[] = [];
  await page.context().route(`${HOST}/**`, async (route) => {
    asked.push({ url: route.request().url(), referrer: route.request().headers()['referer'] });
    await route.fulfill({ body: PNG, contentType: 'image/png' });
  });
  const item = page.getByRole('region', { name: 'Item', exact: true });
  await item.getByText('2 images at images.example.').waitFor();
  expect(await item.locator('img').count()).toBe(0);
  expect(faults).toEqual([]);

  await item.getByRole('button', { name: 'Show images' }).click();
  await item.getByRole('img', { name: 'named' }).waitFor();
  await item.getByRole('img', { name: 'message 1' }).waitFor();
  expect(await item.getByRole('button', { name: 'Show images' }).count()).toBe(0);
  await page.waitForLoadState('networkidle');
  const shown = [
    { url: `${HOST}/asset.png`, referrer: undefined },
    { url: `${HOST}/message`, referrer: undefined },
  ];
  const byUrl = (a: { readonly url: string }, b: { readonly url: string }): number =>
    a.url < b.url ? -1 : 1;
  expect(asked.toSorted(byUrl)).toEqual(shown);

  // the browser remembers it, and the switch in the settings takes it back
  const other = await page.context().newPage();
  await other.goto(`${own.url}/console/settings`);
  const control = other.getByLabel('Show images that data name by https addresses');
  expect(await control.isChecked()).toBe(true);
  await control.click({ force: true });
  await other.waitForLoadState('networkidle');
  await expect.poll(() => control.isChecked()).toBe(false);
  asked.length = 0;
  await page.reload();
  await item.getByRole('button', { name: 'Show images' }).waitFor();
  expect(asked).toEqual([]);
});

it('shows them in previews of tables too', async () => {
  await using opened = await own.browser.open('/console/upload', { key: KEYS.editor });
  const { page } = opened;
  await page.context().route(`${HOST}/**`, (route) => route.fulfill({ body: PNG, contentType: 'image/png' }));
  const choose = (): Promise<void> =>
    page
      .locator('input[type=file]')
      .first()
      .setInputFiles({
        name: 'table.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`question,image_url,homepage\nWhat is it?,${HOST}/1,${HOST}/home\n`),
      });
  await choose();
  await page.getByText('1 image at images.example.').first().waitFor();
  await page.getByRole('button', { name: 'Show images' }).first().click();
  await page.waitForFunction(() => document.querySelector('meta[name="svc-images"][content="shown"]'));
  await choose();
  await page.getByRole('img', { name: 'image_url' }).first().waitFor();
  expect(await page.getByRole('img', { name: 'homepage' }).count()).toBe(0);
});
