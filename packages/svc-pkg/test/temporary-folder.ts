import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { buildZip, type ZipEntrySpec, type ZipSpec } from '../../pkg-format/test/build-zip.ts';

/**
 * A folder that is deleted after the test.
 *
 * @param afterwards registers its removal; a hook, which no test has called, needs another than the default
 */
export async function temporaryFolder(
  afterwards: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pkg-test-'));
  afterwards(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Files by path, as entries of an archive. */
function entries(files: Readonly<Record<string, string | Uint8Array>>): ZipEntrySpec[] {
  return Object.entries(files).map(([name, content]) => ({ name, content }));
}

/** Writes an archive into a new folder; returns its path. */
export async function writeArchive(
  files: Readonly<Record<string, string | Uint8Array>>,
  spec: Partial<ZipSpec> = {},
  name = 'sample.pkg.zip',
): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, buildZip({ entries: entries(files), ...spec }));
  return path;
}
