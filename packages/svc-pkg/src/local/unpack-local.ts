import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS, type PackageLimits } from '@svc/pkg-format';
import { archiveKind, openArchive } from '@svc/pkg-format/internal';
import { openFileSource } from '@svc/pkg-format/node';
import { decompressFile, detectFormat, type FormatHints, TableError } from '@svc/tabular';
import { tableSource } from '@svc/tabular/internal';
import type { CleanUp } from '../clean-up.ts';
import { CliError } from '../errors/cli-error.ts';
import { toFileError } from '../errors/file-error.ts';
import { nameArchive } from '../package/open-local-package.ts';
import { printableValue } from '../text/printable-text.ts';

/** A file by the name that an upload would give it, and where it is. */
export interface NamedPath {
  readonly name: string;
  readonly path: string;
  /** Where it is for a person: of what was in an archive, the path of the archive and its own one. */
  readonly shown: string;
}

/** As many files as an upload may have. */
export const MAX_FILES = 1000;

export type UnpackLimits = Pick<PackageLimits, 'maxTotalBytes'>;

/**
 * Unpacks ZIP archives of tables and compressed Parquet files into a temporary folder, which `stack` deletes; any other
 * file stays where it is.
 *
 * @param limits of what comes out of all files together
 * @throws CliError `usage` for packages, older archives and too many files, `io_error`; PackageError; TableError, `too_large` beyond the limits
 */
export async function unpackLocal(
  files: readonly NamedPath[],
  hints: FormatHints,
  stack: CleanUp,
  { signal, limits = DEFAULT_LIMITS }: { readonly signal: AbortSignal; readonly limits?: UnpackLimits },
): Promise<NamedPath[]> {
  let folder: string | undefined;
  let leftBytes = limits.maxTotalBytes;
  const unpacked: NamedPath[] = [];
  async function write(name: string, shown: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    if (unpacked.length >= MAX_FILES) throw new CliError('usage', `There must be 1 to ${MAX_FILES} files`);
    if (folder === undefined) {
      const made = await mkdtemp(join(tmpdir(), 'svc-pkg-'));
      stack.defer(() => rm(made, { recursive: true, force: true }));
      folder = made;
    }
    const path = join(folder, String(unpacked.length));
    await using file = await open(path, 'wx', 0o600);
    for await (const chunk of content) {
      leftBytes -= chunk.byteLength;
      if (leftBytes < 0) {
        const message = `Unpacked files must have at most ${limits.maxTotalBytes} bytes.`;
        throw new TableError('too_large', message, { location: { file: shown } });
      }
      await file.writeFile(chunk);
    }
    unpacked.push({ name, path, shown });
  }
  for (const found of files) {
    const { name, path, shown } = found;
    const source = await openFileSource(path).catch((error: unknown) => {
      throw toFileError(error, 'read', shown);
    });
    try {
      if (await isZip(source)) {
        const archive = await openArchive(source, undefined, async () => undefined);
        await checkKind(archive, shown, signal);
        for (const entry of archive.files.keys()) {
          await write(entry, `${shown}/${entry}`, archive.read(entry, { signal }));
        }
        continue;
      }
      const detected = await detectFormat(tableSource(shown, source), { ...hints, signal });
      if (detected.format === 'parquet' && detected.compression !== undefined) {
        await write(name, shown, decompressFile(tableSource(shown, source), { signal }));
      } else unpacked.push(found);
    } catch (error) {
      throw nameArchive(error, shown);
    } finally {
      await source.close();
    }
  }
  return unpacked;
}

async function isZip(source: {
  readonly byteLength: number;
  read(start: number, end: number): Promise<Uint8Array>;
}): Promise<boolean> {
  const head = Buffer.from(await source.read(0, Math.min(4, source.byteLength))).toString('latin1');
  return head === 'PK\u0003\u0004' || head === 'PK\u0005\u0006';
}

async function checkKind(
  archive: Awaited<ReturnType<typeof openArchive>>,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const advice = {
    package: {
      message: 'It is a package, not a file with a table',
      hint: `What it contains: svc-pkg inspect ${printableValue(path)}`,
    },
    legacy_package: {
      message: 'It is an archive of an older format',
      hint: `To turn it into a package: svc-pkg convert ${printableValue(path)}`,
    },
    office_document: { message: 'It is an Office document; save its table as CSV', hint: undefined },
  };
  const kind = await archiveKind(archive, signal);
  if (kind === 'files') return;
  const { message, hint } = advice[kind];
  throw new CliError('usage', message, { location: { file: path }, ...(hint && { hint }) });
}
