import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Tool } from '@svc/formats';
import type { PackageLimits } from '@svc/pkg-format';
import { convertLegacyFile } from '@svc/pkg-format/node';
import type { ToolConverter } from '../threads/tool-converter.ts';
import { nameOfFile } from './package-source.ts';
import { roomInSteps, type StagedFile, type UploadStage } from './stage-content.ts';

/** Converts the files of another tool into a package for each run. Its hash stays the first file's. */
export async function convertFiles(
  tool: Tool,
  files: readonly StagedFile[],
  { name }: { readonly name: string | undefined },
  stage: UploadStage,
  { converter, limits }: { readonly converter: ToolConverter; readonly limits: Partial<PackageLimits> },
  signal: AbortSignal,
): Promise<readonly StagedFile[]> {
  const output = stage.create();
  const [{ fileName, sha256 } = { fileName: '', sha256: '' }] = files;
  // Beside the output, which is empty until then: what a thread leaves goes with the folder.
  const folder = await mkdtemp(`${output.path}-`);
  try {
    const task = {
      ...{ tool, name, limits, folder },
      files: files.map(({ fileName: one, path, content }) =>
        path === null ? { name: one, path, content } : { name: one, path, content: null },
      ),
    };
    const made = await converter.convert(task, roomInSteps(output, 0), signal);
    const converted: StagedFile[] = [];
    for (const [index, path] of made.entries()) {
      const place = index === 0 ? output : stage.create();
      const { size: bytes } = await stat(path);
      if (index > 0) await place.makeRoom(bytes);
      await rename(path, place.path);
      converted.push({ fileName, sha256, path: place.path, content: null, bytes });
    }
    return converted;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Converts an older archive into a package with the hash of the upload. */
export async function convertArchive(
  archive: StagedFile,
  { name }: { readonly name: string | undefined },
  stage: UploadStage,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<StagedFile> {
  const input = archive.content === null ? archive.path : await writeSmall(archive.content, stage);
  const output = stage.create();
  await output.makeRoom(archive.bytes);
  await convertLegacyFile(input, {
    output: output.path,
    name,
    fallbackName: nameOfFile(archive.fileName),
    limits,
    signal,
    makeRoom: roomInSteps(output, archive.bytes),
  });
  const { size: bytes } = await stat(output.path);
  return { ...archive, path: output.path, content: null, bytes };
}

/** Writes a file that is in memory to the disk. */
async function writeSmall(content: Uint8Array, stage: UploadStage): Promise<string> {
  const file = stage.create();
  await file.makeRoom(content.byteLength);
  await writeFile(file.path, content, { flag: 'wx', mode: 0o600 });
  return file.path;
}
