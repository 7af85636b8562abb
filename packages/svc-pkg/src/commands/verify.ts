import { jsonText } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import { CleanUp } from '../clean-up.ts';
import type { Cli } from '../cli-context.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { printResult } from '../output/print.ts';
import { nameArchive, openLocalPackage } from '../package/input-file.ts';
import { formatFacts, printableText } from '../text/format.ts';
import { type Verification, type VerifyOptions, verifyPackage } from '../verify/verify-package.ts';
import { flag, operation, parsed, text } from './define-operation.ts';

export const verify = operation({
  summary: 'recompute what a package states of its items and its run',
  description:
    'Recomputes hashes, scores of checkers, means, intervals and the verdict from the package alone, without a service, ' +
    'and lists what is proven, what is taken on trust, and what differs. Exits with code 10 if anything differs, and with ' +
    '3 if the file is no package.',
  arguments: { path: ['<package>', 'a .pkg.zip file; - for standard input'] },
  options: {
    baseline: text(
      '--baseline <file>',
      'package of the run that the bar compares with, if the package does not hold it',
    ),
    runHash: parsed(
      '--run-hash <hex>',
      'hash of the run, from elsewhere',
      'It must have 64 hex digits.',
      (given) => (/^[0-9a-f]{64}$/i.test(given) ? given.toLowerCase() : undefined),
    ),
    allowUnknownScoring: flag(
      '--allow-unknown-scoring',
      'do not fail for scores by rules that this version does not know',
    ),
  },
  service: false,
  examples: [
    'svc-pkg verify run.pkg.zip',
    'svc-pkg verify run.pkg.zip --run-hash 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'svc-pkg verify run.pkg.zip --baseline before.pkg.zip --json',
  ],
  async run({ path, baseline, runHash = null, allowUnknownScoring = false }, cli) {
    const verification = await verified(cli, path, baseline, runHash);
    await printResult(cli, {
      text: () => verificationText(path, verification),
      json: () => jsonText(verificationDocument(verification)),
    });
    const { found, isScoringUnknown } = verification;
    if (found.differingTotal > 0 || (isScoringUnknown && !allowUnknownScoring)) cli.endWith(EXIT.worse);
  },
});

async function verified(
  cli: Cli,
  path: string,
  baselinePath: string | undefined,
  runHash: VerifyOptions['runHash'],
) {
  const { signal } = cli;
  await using opened = new CleanUp();
  let reading = path;
  const open = async (at: string) => opened.use(await openLocalPackage(cli, at)).pkg;
  try {
    const pkg = await open(path);
    reading = baselinePath ?? path;
    const baseline = baselinePath === undefined ? null : await open(baselinePath);
    reading = path;
    return await verifyPackage(pkg, { baseline, runHash, signal });
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    const { message, location } = nameArchive(error, reading) as PackageError;
    throw new CliError('package_unreadable', message, { location, cause: error });
  }
}

function verificationDocument({ runHash, scoring, found }: Verification): Record<string, unknown> {
  const { proven, trusted, differing, differingTotal } = found;
  return { run_hash: runHash, scoring, proven, trusted, differing, differing_total: differingTotal };
}

function verificationText(path: string, { runHash, scoring, isScoringUnknown, found }: Verification): string {
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([what, count]) => `${what.replaceAll('_', ' ')} ${count}`)
      .join(', ');
  const facts = formatFacts([
    ['package', path],
    ['run hash', runHash],
    [
      'scoring',
      isScoringUnknown ? `${scoring ?? 'none'}: not known here, so no score was recomputed` : scoring,
    ],
    ['proven', listed(found.proven)],
    ['on trust', listed(found.trusted)],
    ['differing', found.differingTotal],
  ]);
  const lines = found.differing.map(({ place, recorded, recomputed }) => {
    const [was, is] = [recorded, recomputed].map((value) => JSON.stringify(value));
    return printableText(`  ${place}: ${was}, should be ${is}`);
  });
  const more = found.differingTotal - found.differing.length;
  if (more > 0) lines.push(`  ... and ${more} more`);
  const note =
    runHash !== null && found.proven['known_run_hash'] === undefined
      ? [
          'A package that was rewritten consistently agrees with itself: compare its run hash with one from elsewhere (--run-hash).',
        ]
      : [];
  return [facts.trimEnd(), ...lines, ...note].map((line) => `${line}\n`).join('');
}
