import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConsumerProject, requireEntries } from './consumer-project.ts';
import { buildLegacyArchive } from './convert-legacy-archive.ts';
import { EXAMPLE_CHECKS, runExample } from './example-checks.ts';
import type { PackedPackage } from './pack-packages.ts';
import { runProgram } from './run-program.ts';

/** What was run, and what went wrong: null for nothing. */
export type Failures = ReadonlyMap<string, string | null>;

/**
 * Runs every program of the READMEs and of `examples/` with one Node: as TypeScript, JavaScript and CommonJS, as far as that
 * Node runs them.
 *
 * @param env has `HUB_ENDPOINT`, `SVC_API_URL` and `SVC_API_KEY`
 */
export async function runEveryProgram(
  project: ConsumerProject,
  packages: readonly PackedPackage[],
  node: string,
  env: Readonly<Record<string, string>>,
): Promise<Failures> {
  const failures = new Map<string, string | null>();
  const attempt = async (name: string, check: () => Promise<void>): Promise<void> => {
    const failure = await check().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    failures.set(name, failure);
  };
  const version = await versionOf(node);
  await attempt('require of every entry', () => requireEntries(project, packages, node));
  for (const extension of extensionsOf(version)) {
    const workFolder = await mkdtemp(join(project.folder, 'work-'));
    await writeFile(join(workFolder, 'legacy.zip'), buildLegacyArchive());
    const runner = { node, folder: project.programs[extension], extension, workFolder };
    if (extension !== '.cjs') {
      for (const [name, check] of Object.entries(EXAMPLE_CHECKS))
        await attempt(`examples/${name}${extension}`, () => check(runner, env));
    }
    for (const { name, output, oldestNode } of project.readmePrograms) {
      if (oldestNode !== undefined && !isAtLeast(version, oldestNode)) continue;
      await attempt(`README ${name}${extension}`, async () => {
        const { text } = await runExample(runner, name, [], env);
        if (text !== output) throw new Error(`it prints\n${text}instead of\n${output}`);
      });
    }
  }
  return failures;
}

/** The version of a Node, such as `22.19.0`. */
export async function versionOf(node: string): Promise<string> {
  return (await runProgram(node, ['--version'])).text.trim().slice(1);
}

/** Node takes types out by itself from 22.18 on. */
const extensionsOf = (version: string): readonly ('.ts' | '.js' | '.cjs')[] =>
  isAtLeast(version, '22.18.0') ? ['.ts', '.js', '.cjs'] : ['.js', '.cjs'];

/** Whether a version of Node is another one or newer. */
export function isAtLeast(version: string, oldest: string): boolean {
  return version.localeCompare(oldest, 'en', { numeric: true }) >= 0;
}
