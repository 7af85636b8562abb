import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Brought by npx: nothing else needs it, and an installation should not wait for it.
const LIGHTHOUSE = 'lighthouse@13.5.0';

/** Scores of a page, from 0 to 100, on a desktop. */
export interface LighthouseScores {
  readonly performance: number;
  readonly accessibility: number;
}

/** Lets Lighthouse look at a page of the service, on a desktop. */
export async function lighthouseScores(
  serviceUrl: string,
  path: string,
  chromePath: string,
  folder: string,
): Promise<LighthouseScores> {
  await using proxy = await startProxy(new URL(serviceUrl));
  const output = join(folder, 'lighthouse.json');
  await promisify(execFile)(
    'npx',
    [
      ...['--yes', LIGHTHOUSE, proxy.url + path, '--quiet', '--preset=desktop'],
      ...['--output=json', `--output-path=${output}`, '--only-categories=performance,accessibility'],
      '--chrome-flags=--headless --no-sandbox --disable-gpu --no-zygote',
    ],
    { env: { ...process.env, CHROME_PATH: chromePath } },
  );
  const { categories } = JSON.parse(await readFile(output, 'utf8')) as {
    readonly categories: Readonly<Record<string, { readonly score: number }>>;
  };
  const scoreOf = (name: string): number => Math.round(100 * (categories[name]?.score ?? 0));
  return { performance: scoreOf('performance'), accessibility: scoreOf('accessibility') };
}

/** Passes everything on but `Referrer-Policy`: with it, Lighthouse loses sight of the page in this browser. */
async function startProxy(target: URL): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const passed = request(
      { host: target.hostname, port: target.port, method, path, headers: { ...headers, host: target.host } },
      (response) => {
        const { 'referrer-policy': _, ...kept } = response.headers;
        outgoing.writeHead(response.statusCode ?? 502, kept);
        response.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
