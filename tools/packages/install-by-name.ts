import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildZip } from '../../packages/pkg-format/test/build-zip.ts';
import { runProgram } from './run-program.ts';

/**
 * Does what the README says on a machine that has nothing but Node and npm: `npx svc-pkg@latest convert legacy.zip --name X`
 * in an empty folder, with an empty cache.
 *
 * @param parent where the folder is made
 * @param registry the URL of the registry that has the packages
 * @param node the Node that runs npm and the program
 * @throws Error with what they printed
 */
export async function installByName(parent: string, registry: string, node: string): Promise<void> {
  const folder = await mkdtemp(join(parent, 'by-name-'));
  const work = join(folder, 'work');
  await mkdir(work);
  const content = '{"question":"2+2?","target":4}\n';
  await writeFile(join(work, 'legacy.zip'), buildZip({ entries: [{ name: 'data/sums.jsonl', content }] }));
  const env = {
    PATH: `${dirname(node)}:${process.env['PATH']}`,
    HOME: folder,
    npm_config_registry: registry,
    npm_config_cache: join(folder, 'cache'),
    npm_config_update_notifier: 'false',
  };
  const npx = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const { text } = await runProgram('npx', ['--yes', 'svc-pkg@latest', '--json', ...args], {
      cwd: work,
      env,
    });
    return JSON.parse(text);
  };
  const report = await npx('convert', 'legacy.zip', '--name', 'X');
  const checked = await npx('check', 'legacy.pkg.zip');
  const facts = [report['output'], report['name'], report['item_count'], checked['ok']];
  if (JSON.stringify(facts) !== '["legacy.pkg.zip","X",1,true]')
    throw new Error(`npx svc-pkg: ${JSON.stringify({ report, checked })}`);
}
