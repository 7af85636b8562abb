import { dirname, join } from 'node:path';
import { PackageError } from '../errors.ts';
import type { ConversionReport } from '../legacy/upgrade-item.ts';
import type { PackageLimits } from '../limits.ts';
import { isPackageManifest, MANIFEST_FILE, type PackageGenerator } from '../package/layout.ts';
import type { Archive } from '../package/open-archive.ts';
import { convertLegacy } from './convert-legacy.ts';
import { copyPackage } from './copy-package.ts';
import { type OnRead, withArchiveFile } from './file-source.ts';
import type { MakeRoom } from './temp-dir.ts';
import { archiveName, writeOutput, writeWhole } from './write-output.ts';
import { zipStream } from './zip/zip-stream.ts';

/** Options of `convertLegacyFile`. */
export interface ConvertOptions {
  /** The name of the dataset; by default the name in the archive, or else `fallbackName`. */
  readonly name?: string | undefined;
  /** The name of the dataset if the archive has none; by default the name of the file without its extension. */
  readonly fallbackName?: string;
  /** The file to write; by default `legacyOutputPath(input)`. */
  readonly output?: string | undefined;
  /** Whether an existing output is replaced. */
  readonly force?: boolean;
  /** The program that writes it; by default this library. */
  readonly generator?: PackageGenerator;
  readonly limits?: Partial<PackageLimits>;
  readonly signal?: AbortSignal;
  /** Receives the progress. Files that are read twice keep it at the end for a while. */
  readonly onRead?: OnRead;
  /**
   * Called before bytes are written to the disk, with the size that the output and the temporary files will then have
   * together. The conversion waits for it; what it throws ends the conversion.
   */
  readonly makeRoom?: MakeRoom;
}

/**
 * Converts a legacy archive to a package (package-format section 4). The output appears when it is complete; until then
 * a hidden folder next to it has the temporary files. Memory does not grow with the archive. The same input gives the same
 * output.
 *
 * @throws PackageError with entry and location for an invalid archive; errors of the file system, `EEXIST` if the output
 *   exists and `force` is not set; the signal's reason
 * @example
 * const report = await convertLegacyFile('old.zip');
 * console.log(report.output, report.itemCount); // old.pkg.zip 1319
 */
export async function convertLegacyFile(
  input: string,
  options: ConvertOptions = {},
): Promise<ConversionReport> {
  const { force = false, fallbackName = archiveName(input), limits, signal } = options;
  const { generator, onRead, makeRoom } = options;
  const name = options.name ?? null;
  const target = options.output ?? legacyOutputPath(input);
  return await writeOutput(target, { force, makeRoom }, (temporary, tempDir) =>
    withArchiveFile(input, { limits, onRead }, async (archive) => {
      const { plan, report } = (await isPackage(archive))
        ? await copyPackage(archive, name, generator, signal)
        : await convertLegacy(archive, tempDir, { given: name, fallback: fallbackName, generator }, signal);
      await writeWhole(temporary, tempDir.withRoom(zipStream(async () => plan, signal)));
      return { output: target, ...report };
    }),
  );
}

/** Whether the archive says that it is a package; a manifest that cannot be parsed does not, and its error comes later. */
async function isPackage(archive: Archive): Promise<boolean> {
  try {
    const manifest = await archive.readJsonObject(MANIFEST_FILE);
    return isPackageManifest(manifest?.value ?? null);
  } catch (error) {
    if (error instanceof PackageError && error.code === 'package_invalid_json') return false;
    throw error;
  }
}

/** The default output: `data/old.pkg.zip` for `data/old.zip`. */
export function legacyOutputPath(input: string): string {
  return join(dirname(input), `${archiveName(input)}.pkg.zip`);
}
