import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium, NO_CHROMIUM } from '../../../tools/browser/find-chromium.ts';
import { counted } from '../../../tools/vitest/costs.ts';
import { IS_LONG } from '../../../tools/vitest/long.ts';

/** A browser that looks at one service. */
export interface ConsoleBrowser extends AsyncDisposable {
  /** Opens an address of the console and waits until it has loaded. */
  open(path: string, options?: PageOptions): Promise<ConsolePage>;
}

interface PageOptions {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** Signs in with a key of the service first. */
  readonly key?: string;
  /** Whether the test moves the clock of the page. */
  readonly hasClock?: boolean;
  /** Whether the tour was dismissed before. */
  readonly hasSeenTour?: boolean;
}

/** A page, and what went wrong in it. */
interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** Errors of scripts and of the content policy, and requests to other origins. */
  readonly faults: readonly string[];
  /** Method and address of each request, without those of the page's files. */
  readonly requests: readonly string[];
  /** Bodies of requests that were sent to the telemetry endpoint. */
  readonly telemetry: readonly string[];
}

/** Starts a Chromium for the console at an address. A machine without one is an error, not a reason to skip. */
export async function startConsoleBrowser(url: string): Promise<ConsoleBrowser> {
  const found = await findChromium();
  if (found === null) throw new Error(NO_CHROMIUM);
  const browser: Browser = await chromium.launch({
    executablePath: found.executablePath,
    args: [...found.args],
  });
  return {
    open: async (path, options = {}) => {
      const {
        scheme = 'light',
        width = 1280,
        height = 800,
        hasSeenTour = true,
        key,
        hasClock = false,
      } = options;
      counted('pages');
      const context: BrowserContext = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        // nothing is looked at halfway
        reducedMotion: 'reduce',
      });
      if (hasSeenTour)
        await context.addInitScript(
          `localStorage.setItem('svc.tour', JSON.stringify({ status: 'dismissed', step: 0 }))`,
        );
      if (key !== undefined) await context.request.post(`${url}/session`, { data: { key } });
      // as long as a busy machine may take
      context.setDefaultTimeout(90_000);
      const page = await context.newPage();
      if (hasClock) await page.clock.install();
      const faults: string[] = [];
      const requests: string[] = [];
      const telemetry: string[] = [];
      page.on('pageerror', (error) => faults.push(`${path}: ${error}`));
      page.on('console', (message) => {
        // the browser reports each response of 4xx and 5xx, which tests provoke
        if (message.type() === 'error' && !/status of \d+/.test(message.text()))
          faults.push(`${path}: ${message.text()}`);
      });
      context.on('request', (request) => {
        const asked = request.url();
        if (!asked.startsWith(`${url}/`) && !asked.startsWith('data:') && !asked.startsWith('blob:'))
          faults.push(`${path}: requests ${asked}`);
        if (!asked.includes('/console/assets/'))
          requests.push(`${request.method()} ${asked.slice(url.length)}`);
        if (asked.includes('/telemetry/')) telemetry.push(request.postData() ?? '');
      });
      await page.goto(url + path);
      await page.locator('h1').first().waitFor();
      return { page, faults, requests, telemetry, [Symbol.asyncDispose]: () => context.close() };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/**
 * What the rules of WCAG 2.2, levels A and AA, and those of best practice find on a page: a line each.
 *
 * @param rules only these; by default all
 */
async function findBarriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe);
  const runOnly = rules ?? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  return await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(
      ({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
        id + ': ' + html.slice(0, 160) + ' | ' + failureSummary.split('\\n').slice(1, 2).join(' ').trim().slice(0, 160))))`,
  );
}

/** Gives the focus to a list that has rows. */
export async function focusList(page: Page, name: string): Promise<void> {
  const list = page.getByRole('grid', { name });
  await list.getByRole('row').nth(1).waitFor();
  await list.focus();
}

/**
 * The same in light, and in the long form in dark as well, with the scheme in front of each line, and with the pointer where a
 * click on the navigation leaves it.
 */
export async function barriersOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const scheme of SCHEMES) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(`[data-mantine-color-scheme=${scheme}]`).waitFor();
    const link = page.locator('nav [aria-current=page]').first();
    // also where a dialog covers it
    if (await link.isVisible()) await link.hover({ force: true });
    // the bar that stays at the foot of the window covers part of what can be scrolled out from under it
    await page.evaluate(
      "document.querySelector('.action-bar') && scrollTo(0, document.documentElement.scrollHeight)",
    );
    // colours that still change have another contrast
    await page.evaluate(
      'Promise.allSettled(document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity).map(({ finished }) => finished))',
    );
    // what depends on the scheme is colour
    const rules = scheme === 'light' ? undefined : ['color-contrast', 'link-in-text-block'];
    const where = page.url().replace(/^.*?\/console/, '/console');
    found.push(...(await findBarriers(page, rules)).map((barrier) => `${where} ${scheme}: ${barrier}`));
  }
  return found;
}

const SCHEMES = IS_LONG ? (['light', 'dark'] as const) : (['light'] as const);
let axe: string | undefined;

/** Counts the clicks in a page from now on, also after it is loaded again. @returns how many there were since the last call */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  const clicks = { count: 0 };
  await page.exposeFunction('countClick', () => {
    clicks.count += 1;
  });
  const listen = `addEventListener('pointerdown', () => window.countClick(), { capture: true })`;
  await page.addInitScript(listen);
  await page.evaluate(listen);
  return async () => {
    // what the page has sent is here
    await page.evaluate('0');
    const { count } = clicks;
    clicks.count = 0;
    return count;
  };
}

/** By how many pixels a page is wider than its window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
