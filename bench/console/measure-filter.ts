import type { Browser } from 'playwright-core';

/** How long a filter of results takes. */
export interface FilterFigures {
  /** From the end of the response to the rows in the page. */
  readonly shownMs: number;
  /** From the choice of the filter to the rows in the page. */
  readonly wholeMs: number;
}

/** Reads all results of a run by scrolling, then filters them. */
export async function measureFilter(browser: Browser, url: string, runId: string): Promise<FilterFigures> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${url}/console/runs/${runId}`);
  const list = page.getByRole('listbox', { name: 'Results' });
  await list.getByRole('option').first().waitFor();
  const loaded = (): Promise<string> =>
    page.evaluate(`document.querySelector('[role=option]').getAttribute('aria-setsize')`);
  const total = Number((await page.getByText(/^[\d,]+ results$/).textContent())?.replaceAll(/\D/g, ''));
  while (Number(await loaded()) < total) {
    await page.evaluate(
      `(() => { const list = document.querySelector('[role=listbox]'); list.scrollTop = list.scrollHeight;
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); })()`,
    );
  }
  await page.evaluate(`(() => {
    const shown = document.querySelector('[aria-live=polite] , [role=listbox]');
    window.filtered = new Promise((done) => new MutationObserver(() => {
      const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('passed=false')).at(-1);
      const size = Number(document.querySelector('[role=option]')?.getAttribute('aria-setsize') ?? 0);
      if (asked !== undefined && asked.responseEnd > 0 && size <= 100)
        done([performance.now() - asked.responseEnd, performance.now() - asked.startTime]);
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true }));
    return shown !== null;
  })()`);
  await page.getByRole('combobox', { name: 'Passed' }).click();
  await page.getByRole('option', { name: 'not passed' }).click();
  const [shown = 0, whole = 0] = await page.evaluate<number[]>('window.filtered');
  await context.close();
  return { shownMs: Math.round(shown), wholeMs: Math.round(whole) };
}
