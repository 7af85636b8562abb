import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildZip } from '../../packages/pkg-format/test/build-zip.ts';
import type { ConsumerProject } from './consumer-project.ts';
import { runProgram } from './run-program.ts';

/** An archive of an older format: one item with a file. */
export function buildLegacyArchive(): Uint8Array {
  const item = '{"question":"2+2?","target":4,"assets":{"note":{"file":"note.txt"}}}\n';
  const entries = [
    { name: 'data/sums.jsonl', content: item },
    { name: 'note.txt', content: 'plus' },
  ];
  return buildZip({ entries });
}

/** Converts a legacy archive with the installed command line, and checks and hashes the package. */
export async function convertLegacyArchive(project: ConsumerProject, node: string): Promise<void> {
  const cwd = await mkdtemp(join(project.folder, 'convert-'));
  await writeFile(join(cwd, 'legacy.zip'), buildLegacyArchive());
  const main = join(project.folder, 'node_modules/svc-pkg/dist/main.js');
  const svcPkg = async (...argv: readonly string[]): Promise<Record<string, unknown>> => {
    const { text: printed } = await runProgram(node, [main, '--json', ...argv], { cwd });
    return JSON.parse(printed);
  };
  const report = await svcPkg('convert', 'legacy.zip', '--name', 'X');
  const checked = await svcPkg('check', 'legacy.pkg.zip');
  const hashed = await svcPkg('hash', 'legacy.pkg.zip');
  const inspected = await svcPkg('inspect', 'legacy.pkg.zip');
  const facts = [
    report['output'],
    report['item_count'],
    report['file_count'],
    checked['ok'],
    inspected['name'],
  ];
  if (
    JSON.stringify(facts) !== '["legacy.pkg.zip",1,1,true,"X"]' ||
    hashed['version_hash'] !== report['version_hash']
  )
    throw new Error(`svc-pkg convert: ${JSON.stringify({ report, checked, hashed })}`);
}
