import { stat, writeFile } from 'node:fs/promises';
import { convertTool, type Tool } from '@svc/formats';
import type { PackageLimits } from '@svc/pkg-format';
import { convertLegacyFile } from '@svc/pkg-format/node';
import { nameOfFile } from './package-source.ts';
import { roomInSteps, type StagedFile, type UploadStage } from './stage-content.ts';
import type { UploadedFile } from './uploaded-file.ts';

/** Converts the files of another tool into a package of each of their runs. Its hash stays that of the first file. */
export async function convertFiles(
  tool: Tool,
  files: readonly UploadedFile[],
  { name }: { readonly name: string | undefined },
  stage: UploadStage,
  limits: Partial<PackageLimits>,
  signal: AbortSignal,
): Promise<readonly StagedFile[]> {
  const output = stage.create();
  const [{ name: fileName, sha256 } = { name: '', sha256: '' }] = files;
  const makeRoom = roomInSteps(output, 0);
  // The room that is made for the first package is enough for all of them.
  const further = (): string => stage.create().path;
  const options = { output: output.path, further, name, limits, signal, makeRoom };
  const converted: StagedFile[] = [];
  for (const { output: path } of await convertTool(tool, files, options)) {
    const { size: bytes } = await stat(path);
    converted.push({ fileName, sha256, path, content: null, bytes });
  }
  return converted;
}

/** Converts an older archive into a package, whose hash stays that of what was sent. */
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
