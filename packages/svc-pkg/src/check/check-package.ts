import type { CheckedPackage, PackageReader } from '@svc/pkg-format';
import { inspectPackage } from '@svc/pkg-format/internal';
import { createLinter, lintFiles } from './check-style.ts';
import type { Diagnostic } from './diagnostic.ts';

export interface CheckOptions {
  /** Also report style. */
  readonly strict: boolean;
  readonly signal: AbortSignal;
}

/**
 * Reads a package to its end and yields every error, and with `strict` its style, in the order of the package.
 *
 * @throws errors of the file system, and the signal's reason
 */
export async function* checkPackage(
  pkg: PackageReader,
  { strict, signal }: CheckOptions,
): AsyncGenerator<Diagnostic, CheckedPackage, undefined> {
  const linter = strict ? createLinter() : null;
  const events = inspectPackage(pkg, { signal });
  for (;;) {
    const next = await events.next();
    if (next.done) {
      if (strict) yield* lintFiles(pkg.ignoredEntries, next.value.unusedFiles);
      return next.value;
    }
    const event = next.value;
    if (event.kind === 'section') linter?.begin(event.section.file);
    else if (event.kind === 'line') yield* linter?.line(event.line) ?? [];
    else if (event.kind === 'section_end') yield* linter?.end(event.ends) ?? [];
    else {
      const { code, message, location } = event.error;
      yield { severity: 'error', code, message, location };
    }
  }
}
