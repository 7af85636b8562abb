import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { eachPath, printResult } from '../output/print.ts';
import { type HashedPackage, hashDocument, hashPackage } from '../package/hash-package.ts';
import { withLocalPackage } from '../package/open-local-package.ts';
import { withExamples } from './define-command.ts';

/** `hash`: the version hash of a package, computed from what it holds. */
export function addHashCommand(program: Command, cli: Cli): void {
  const command = program
    .command('hash')
    .summary('print the version hash of packages')
    .description(
      'Computes the version hash from the items of a package, whatever its manifest says; where the manifest states ' +
        'another one, that is an error. The same hash names the dataset in a service.',
    )
    .argument('<packages...>', '.pkg.zip files, - for standard input')
    .action(async (paths: readonly string[]) => {
      await eachPath(cli, paths, async (out, path) => {
        const hashed = await hashFile(cli, path);
        await printResult(out, {
          text: () => `${hashed.versionHash}${paths.length === 1 ? '' : `  ${path}`}\n`,
          json: () => jsonText(hashDocument(path, hashed)),
        });
      });
    });
  withExamples(command, ['svc-pkg hash gsm8k.pkg.zip', 'svc-pkg hash *.pkg.zip']);
}

async function hashFile(cli: Cli, path: string): Promise<HashedPackage> {
  return await withLocalPackage(cli, path, (pkg) => hashPackage(pkg, cli.signal));
}
