import { type CheckedPackage, PackageError } from '@svc/pkg-format';
import type { Command } from 'commander';
import { checkPackage } from '../check/check-package.ts';
import { collectDiagnostics, type DiagnosticCollector, MAX_PER_CODE } from '../check/collect-diagnostics.ts';
import type { Cli } from '../cli-context.ts';
import { EXIT } from '../errors/exit-codes.ts';
import { errorLine } from '../errors/print-error.ts';
import { eachPath } from '../output/each-path.ts';
import { jsonText, printResult } from '../output/print-result.ts';
import { hashDocument } from '../package/hash-package.ts';
import { openLocalPackage } from '../package/open-local-package.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { withExamples } from './define-command.ts';

/** `check`: reports everything that is wrong with a package. */
export function addCheckCommand(program: Command, cli: Cli): void {
  const command = program
    .command('check')
    .summary('report everything that is wrong with packages')
    .description(
      'Reads a package as an import does and reports every invalid line, missing file, damaged entry and wrong ' +
        `checksum as "file:line:column: message (code)". Shows the first ${MAX_PER_CODE} of each code and ` +
        'counts all. Exits with code 1 if it reports anything.',
    )
    .argument('<packages...>', '.pkg.zip files, - for standard input')
    .option(
      '--strict',
      'also report style: byte order marks, CR LF, blank and non-canonical lines, missing and duplicate ids, unknown ' +
        'types, empty sections, files that are not part of the package',
    )
    .action(async (paths: readonly string[], options: { strict?: boolean }) => {
      await eachPath(cli, paths, async (out, path) => {
        const found = collectDiagnostics();
        const checked = await checkFile(cli, path, options.strict === true, found);
        await printResult(out, {
          text: () => reportText(path, checked, found),
          json: () => jsonText(reportDocument(path, checked, found)),
        });
        if (found.counts.size > 0) cli.endWith(EXIT.failed);
      });
    });
  withExamples(command, [
    'svc-pkg check gsm8k.pkg.zip',
    'svc-pkg check --strict --json gsm8k.pkg.zip',
    'svc-pkg check *.pkg.zip',
  ]);
}

/** Null for a file that is not a readable package, with that as the only error. */
async function checkFile(
  cli: Cli,
  path: string,
  strict: boolean,
  found: DiagnosticCollector,
): Promise<CheckedPackage | null> {
  try {
    await using opened = await openLocalPackage(cli, path);
    const checking = checkPackage(opened.pkg, { strict, signal: cli.signal });
    for (;;) {
      const next = await checking.next();
      if (next.done) return next.value;
      found.report(next.value);
    }
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    found.report({ severity: 'error', code: error.code, message: error.message, location: error.location });
    return null;
  }
}

function reportText(path: string, checked: CheckedPackage | null, found: DiagnosticCollector): string {
  const lines = found.diagnostics.map((diagnostic) => errorLine(diagnostic, path));
  for (const [code, { count }] of found.counts) {
    if (count > MAX_PER_CODE) lines.push(`... and ${count - MAX_PER_CODE} more (${code})`);
  }
  const read =
    checked === null
      ? 'not readable as a package'
      : `${countOf(checked.itemCount, 'item')} in ${countOf(checked.sections.length, 'section')}`;
  const verdict = [
    countOf(found.errorCount, 'error'),
    ...(found.styleCount > 0 ? [countOf(found.styleCount, 'style finding')] : []),
  ].join(', ');
  const facts = formatFacts([
    ['package', path],
    ['read', read],
    ['found', verdict],
    ['version hash', checked?.versionHash],
    [
      'next',
      found.counts.has('package_no_sections') ? `if it is a legacy archive: svc-pkg convert ${path}` : null,
    ],
  ]);
  return `${lines.map((line) => `${line}\n`).join('')}${facts}`;
}

function reportDocument(
  path: string,
  checked: CheckedPackage | null,
  found: DiagnosticCollector,
): Record<string, unknown> {
  const { diagnostics, counts, errorCount, styleCount } = found;
  return {
    ...hashDocument(path, checked ?? { sections: [], itemCount: 0, versionHash: null }),
    ok: counts.size === 0,
    error_count: errorCount,
    style_count: styleCount,
    counts: Object.fromEntries([...counts].map(([code, { count }]) => [code, count])),
    findings: diagnostics.map(({ location, ...diagnostic }) => ({ ...diagnostic, ...location })),
  };
}
