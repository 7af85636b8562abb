import { createReadStream } from 'node:fs';
import { type CheckedPackage, DEFAULT_LIMITS } from '@svc/pkg-format';
import { checkLines } from '@svc/pkg-format/internal';
import type { CheckOptions } from './check-package.ts';
import { createLinter } from './check-style.ts';
import type { Diagnostic } from './diagnostic.ts';

/**
 * Reads a JSON Lines file of items to its end and yields every error, and with `strict` its style. Files that items refer to
 * are not looked for.
 *
 * @returns the number of items; there is no version hash
 * @throws errors of the file system, and the signal's reason
 */
export async function* checkLinesFile(
  path: string,
  { strict, signal }: CheckOptions,
): AsyncGenerator<Diagnostic, Pick<CheckedPackage, 'sections' | 'itemCount' | 'versionHash'>, undefined> {
  const linter = strict ? createLinter() : null;
  linter?.begin(path);
  let itemCount = 0;
  const lines = checkLines(createReadStream(path), { file: path, limits: DEFAULT_LIMITS, signal });
  for (;;) {
    const next = await lines.next();
    if (next.done) {
      yield* linter?.end(next.value) ?? [];
      return { sections: [], itemCount, versionHash: null };
    }
    const { errors, item } = next.value;
    if (item !== null) itemCount += 1;
    for (const { code, message, location } of errors) {
      yield { severity: 'error', code, message, location };
    }
    yield* linter?.line(next.value) ?? [];
  }
}
