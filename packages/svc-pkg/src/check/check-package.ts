import { createReadStream } from 'node:fs';
import { type CheckedPackage, DEFAULT_LIMITS, type PackageReader } from '@svc/pkg-format';
import { checkLines, inspectPackage } from '@svc/pkg-format/internal';
import { type Diagnostics, Linter } from './check-style.ts';

export interface CheckOptions {
  /** Also report style. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
}

/** Reads a package to its end and reports every error, and with `strict` its style, in the order of the package. */
export async function checkPackage(
  pkg: PackageReader,
  { strict, signal }: CheckOptions,
  found: Diagnostics,
): Promise<CheckedPackage> {
  const linter = strict ? new Linter(found) : null;
  const events = inspectPackage(pkg, { signal });
  for (;;) {
    const next = await events.next();
    if (next.done) {
      linter?.files(pkg.ignoredEntries, next.value.unusedFiles);
      return next.value;
    }
    const event = next.value;
    if (event.kind === 'section') linter?.begin(event.section.file);
    else if (event.kind === 'line') linter?.line(event.line);
    else if (event.kind === 'section_end') linter?.end(event.ends);
    else found.error(event.error);
  }
}

/**
 * Reads a JSON Lines file of items to its end and reports every error, and with `strict` its style. Files that items refer
 * to are not looked for.
 *
 * @returns the number of items; there is no version hash
 */
export async function checkLinesFile(
  path: string,
  { strict, signal }: CheckOptions,
  found: Diagnostics,
): Promise<Pick<CheckedPackage, 'sections' | 'itemCount' | 'versionHash'>> {
  const linter = strict ? new Linter(found) : null;
  linter?.begin(path);
  let itemCount = 0;
  const lines = checkLines(createReadStream(path), { file: path, limits: DEFAULT_LIMITS, signal });
  for (;;) {
    const next = await lines.next();
    if (next.done) {
      linter?.end(next.value);
      return { sections: [], itemCount, versionHash: null };
    }
    const { errors, item } = next.value;
    if (item !== null) itemCount += 1;
    for (const error of errors) found.error(error);
    linter?.line(next.value);
  }
}
