import type { Browser, CDPSession } from 'playwright-core';

/** Positions between the two ends of the list at which the page is looked at. */
const STEPS = 250;

/** What a list of many items costs the page that shows it. */
export interface ListFigures {
  /** From the click in the list of datasets to the first items. */
  readonly openedMs: number;
  /** From the address to the first items, nothing cached. */
  readonly loadedMs: number;
  readonly heapMb: number;
  readonly requests: number;
}

/** Opens the items of a dataset, scrolls to the last of them and back, and watches the heap of the page. */
export async function measureList(
  browser: Browser,
  url: string,
  datasetId: string,
  count: number,
): Promise<ListFigures> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  let requests = 0;
  page.on('request', (request) => {
    if (/\/items\?/.test(request.url())) requests += 1;
  });
  const first = page.getByRole('listbox', { name: 'Items' }).getByText('q0', { exact: true });
  let startedAt = performance.now();
  await page.goto(`${url}/console/datasets/${datasetId}`);
  await first.waitFor();
  const loadedMs = Math.round(performance.now() - startedAt);
  await page.goto(`${url}/console/datasets`);
  await page.locator(`a[href$="${datasetId}"]`).waitFor();
  startedAt = performance.now();
  await page.locator(`a[href$="${datasetId}"]`).click();
  await first.waitFor();
  const openedMs = Math.round(performance.now() - startedAt);

  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  let heapBytes = await heapOf(session);
  for (let step = 1; step <= 2 * STEPS; step += 1) {
    const share = step <= STEPS ? step / STEPS : 2 - step / STEPS;
    await page.evaluate(
      `(() => { const list = document.querySelector('[role=listbox]'); list.scrollTop = ${share} * list.scrollHeight;
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); })()`,
    );
    heapBytes = Math.max(heapBytes, await heapOf(session));
    if (step === STEPS)
      await page
        .getByText(`q${count - 1}`, { exact: true })
        .first()
        .waitFor();
  }
  await first.waitFor();
  await context.close();
  return { openedMs, loadedMs, heapMb: Math.round(heapBytes / 1e6), requests };
}

async function heapOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
}
