import { mkdir, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { FoundChromium } from '../browser/find-chromium.ts';
import { bundle, servePage } from './browser-check.ts';
import type { ConsumerProject } from './consumer-project.ts';
import { startExampleHub } from './example-checks.ts';
import type { ReadmeExample } from './readme-examples.ts';

/** Whether a program uses nothing of Node: no entry for Node, no module of Node, no HTTP framework and no package for Node alone. */
export function runsInBrowsers({ code }: ReadmeExample): boolean {
  return !/from '(?:[^']*\/(?:node|write)|node:[^']*|express|@svc\/observability|@svc\/client|@svc\/formats)'/.test(
    code,
  );
}

/** Bundles programs into a page that runs one by its name. */
async function buildReadmePage(
  project: ConsumerProject,
  examples: readonly ReadmeExample[],
): Promise<string> {
  const folder = join(project.folder, 'readme-page');
  await mkdir(join(folder, 'programs'), { recursive: true });
  for (const { name, code } of examples) {
    // a page has no environment
    const program = stripTypeScriptTypes(code).replaceAll("process.env['HUB_ENDPOINT']", 'location.origin');
    await writeFile(join(folder, `programs/${name}.js`), program);
  }
  await writeFile(join(folder, 'index.html'), '<script type="module" src="/main.js"></script>\n');
  await writeFile(
    join(folder, 'main.js'),
    `const programs = import.meta.glob('./programs/*.js');
globalThis.run = async (name) => {
  const lines = [];
  console.log = (...values) => lines.push(values.join(' ') + '\\n');
  await programs['./programs/' + name + '.js']();
  return lines.join('');
};
`,
  );
  await bundle(folder);
  return join(folder, 'dist');
}

/** Runs programs of the READMEs in a browser; returns what each prints, by its name. */
export async function printedInBrowser(
  project: ConsumerProject,
  examples: readonly ReadmeExample[],
  { executablePath, args }: FoundChromium,
): Promise<Map<string, string>> {
  const page = await buildReadmePage(project, examples);
  await using cleanUp = new AsyncDisposableStack();
  const hub = await startExampleHub();
  cleanUp.defer(() => hub.close());
  const server = servePage(page, hub.endpoint);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const browser = await chromium.launch({ executablePath, args: [...args] });
  cleanUp.defer(() => browser.close());
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
  await tab.waitForFunction(() => 'run' in globalThis);
  const printed = new Map<string, string>();
  for (const { name } of examples) {
    const text = await tab.evaluate(
      (program) => (globalThis as unknown as { run(name: string): Promise<string> }).run(program),
      name,
    );
    printed.set(name, text);
  }
  return printed;
}
