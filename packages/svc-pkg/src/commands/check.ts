import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonText } from '@svc/jsonl-v23/json';
import {
  type CheckedPackage,
  checkLines,
  checkPackage,
  DEFAULT_LIMITS,
  type FileEnds,
  PackageError,
  type PackageReader,
} from '@svc/pkg-format';
import { Diagnostics, Linter, MAX_PER_CODE } from '../check/check-style.ts';
import type { Cli } from '../cli-context.ts';
import { EXIT, toFileError, withFileErrors } from '../errors/cli-error.ts';
import { errorLine } from '../errors/failure.ts';
import { eachPath, printResult } from '../output/print.ts';
import { entryOf, openFolderAsArchive, openInputFile, openLocalPackage } from '../package/input-file.ts';
import { countOf, formatFacts } from '../text/format.ts';
import { flag, operation } from './define-operation.ts';
import { hashDocument, type RunFacts, readRunFacts, runText } from './inspect.ts';

export const check = operation({
  summary: 'report everything that is wrong with packages',
  description:
    'Reads a package, or a folder or JSON Lines file that becomes one, as an import does, and reports every invalid line, missing file, damaged entry and wrong ' +
    `checksum as "file:line:column: message (code)". Shows the first ${MAX_PER_CODE} of each code and ` +
    'counts all. Exits with code 1 if it reports anything.',
  arguments: {
    paths: [
      '<packages...>',
      '.pkg.zip files, - for standard input; folders with the files of a package; .jsonl files of items',
    ],
  },
  options: {
    strict: flag(
      '--strict',
      'also report style: byte order marks, CR LF, blank and non-canonical lines, missing and duplicate ids, unknown ' +
        'types, empty sections, files that are not part of the package',
    ),
  },
  service: false,
  examples: [
    'svc-pkg check gsm8k.pkg.zip',
    'svc-pkg check --strict --json gsm8k.pkg.zip',
    'svc-pkg check *.pkg.zip',
    'svc-pkg check gsm8k/ items.jsonl',
  ],
  async run({ paths, strict = false }, cli) {
    await eachPath(cli, paths, async (out, path) => {
      const found = new Diagnostics();
      const input = await inputAt(path);
      const how = { found, linter: strict ? new Linter(found) : null, signal: cli.signal };
      const checked = await checkFile(cli, path, input.kind, how);
      await printResult(out, {
        text: () => reportText(path, input, checked, found, cli.quiet),
        json: () => jsonText(reportDocument(path, checked, found)),
      });
      if (found.counts.size > 0) cli.endWith(EXIT.failed);
    });
  },
});

/** What a check read, as far as it could. */
interface Checked extends Pick<CheckedPackage, 'sections' | 'itemCount' | 'versionHash'> {
  readonly run: RunFacts | null;
}

/** How the input is read, and how a file in it is named for people. */
interface CheckedInput {
  readonly kind: 'package' | 'folder' | 'lines';
  readonly nameEntry: (entry: string) => string;
}

async function inputAt(path: string): Promise<CheckedInput> {
  if (path === '-') return { kind: 'package', nameEntry: (entry) => entry };
  const found = await withFileErrors('read', path, () => stat(path));
  if (found.isDirectory()) return { kind: 'folder', nameEntry: (entry) => join(path, entry) };
  const isLines = /\.(?:jsonl|ndjson)$/i.test(path);
  return { kind: isLines ? 'lines' : 'package', nameEntry: entryOf(path) };
}

/** Null for a file that is not a readable package; this is then the only error. */
async function checkFile(
  cli: Cli,
  path: string,
  kind: CheckedInput['kind'],
  how: CheckOptions,
): Promise<Checked | null> {
  const { found } = how;
  try {
    if (kind === 'lines') return await checkLinesFile(path, how);
    const openInput = kind === 'folder' ? openFolderAsArchive : openInputFile;
    await using opened = await openLocalPackage(cli, path, openInput);
    const checked = await readPackage(opened.pkg, how);
    // The results of a package with errors may refer to items that could not be read.
    const hasErrors = found.countOf('error') > 0;
    const run = hasErrors ? null : await readRunFacts(opened.pkg, checked.sections, cli.signal);
    return { ...checked, run };
  } catch (error) {
    if (!(error instanceof PackageError)) throw toFileError(error, 'read', path);
    found.error(error);
    return null;
  }
}

interface CheckOptions {
  readonly found: Diagnostics;
  /** Reports style; null for errors alone. */
  readonly linter: Linter | null;
  readonly signal: AbortSignal;
}

/** Reads a package to its end and reports what it finds, in the order of the package. */
async function readPackage(
  pkg: PackageReader,
  { found, linter, signal }: CheckOptions,
): Promise<CheckedPackage> {
  const errors = checkPackage(pkg, { signal, watcher: linter ?? undefined });
  for (;;) {
    const next = await errors.next();
    if (next.done) {
      linter?.files(pkg.ignoredEntries, next.value.unusedFiles);
      return next.value;
    }
    found.error(next.value);
  }
}

/** The same for a JSON Lines file of items. Files that items refer to are not looked for. */
async function checkLinesFile(path: string, { found, linter, signal }: CheckOptions): Promise<Checked> {
  linter?.begin(path);
  let itemCount = 0;
  const options = {
    file: path,
    limits: DEFAULT_LIMITS,
    signal,
    onEnd: (ends: FileEnds) => linter?.end(ends),
  };
  for await (const line of checkLines(createReadStream(path), options)) {
    if (line.item !== null) itemCount += 1;
    for (const error of line.errors) found.error(error);
    linter?.line(line);
  }
  return { sections: [], itemCount, versionHash: null, run: null };
}

function reportText(
  path: string,
  { kind, nameEntry }: CheckedInput,
  checked: Checked | null,
  found: Diagnostics,
  quiet: boolean,
): string {
  const lines = found.first.map((diagnostic) => {
    const { file } = diagnostic.location;
    const isOwn = file === undefined || file === path;
    const location = { ...diagnostic.location, file: isOwn ? path : nameEntry(file) };
    return errorLine({ ...diagnostic, location });
  });
  for (const [code, { count }] of found.counts) {
    if (count > MAX_PER_CODE) lines.push(`... and ${count - MAX_PER_CODE} more (${code})`);
  }
  if (quiet) return lines.map((line) => `${line}\n`).join('');
  const read =
    checked === null
      ? 'not readable as a package'
      : kind === 'lines'
        ? countOf(checked.itemCount, 'item')
        : `${countOf(checked.itemCount, 'item')} in ${countOf(checked.sections.length, 'section')}`;
  const styleCount = found.countOf('style');
  const verdict = [
    countOf(found.countOf('error'), 'error'),
    ...(styleCount > 0 ? [countOf(styleCount, 'style finding')] : []),
  ].join(', ');
  const facts = formatFacts([
    [kind === 'lines' ? 'file' : kind, path],
    ['read', read],
    ['run', checked?.run && runText(checked.run)],
    ['found', verdict],
    ['version hash', checked?.versionHash],
    [
      'next',
      kind === 'package' && found.counts.has('package_no_sections')
        ? `if it is a legacy archive: svc-pkg convert ${path}`
        : null,
    ],
  ]);
  return `${lines.map((line) => `${line}\n`).join('')}${facts}`;
}

function reportDocument(path: string, checked: Checked | null, found: Diagnostics): Record<string, unknown> {
  const { counts } = found;
  return {
    ...hashDocument(path, checked ?? { sections: [], itemCount: 0, versionHash: null }),
    ok: counts.size === 0,
    error_count: found.countOf('error'),
    style_count: found.countOf('style'),
    run: checked?.run ?? null,
    counts: Object.fromEntries([...counts].map(([code, { count }]) => [code, count])),
    findings: found.first.map(({ location, ...diagnostic }) => ({ ...diagnostic, ...location })),
  };
}
