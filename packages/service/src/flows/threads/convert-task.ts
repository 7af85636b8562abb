import { join } from 'node:path';
import { convertTool, type Tool, type ToolReport } from '@svc/formats';
import { JsonlError, type JsonlErrorCode, type SourceLocation } from '@svc/jsonl-v23';
import { PackageError, type PackageErrorCode, type PackageLimits } from '@svc/pkg-format';
import { bytesSource } from '@svc/pkg-format/internal';
import { openFileSource } from '@svc/pkg-format/node';

/** Files of another tool to convert, as a thread gets them. */
export interface ConvertTask {
  readonly tool: Tool;
  /** Each is in memory or on the disk. */
  readonly files: readonly ({ readonly name: string } & (
    | { readonly path: string; readonly content: null }
    | { readonly path: null; readonly content: Uint8Array }
  ))[];
  readonly name: string | undefined;
  readonly limits: Partial<PackageLimits>;
  /** An empty folder for the packages and for temporary files. */
  readonly folder: string;
}

/** The package of a run, by its place among them. */
const packagePath = (folder: string, index: number): string => join(folder, `${index}.pkg.zip`);

/**
 * Converts files, each run into a package in the folder.
 *
 * @returns the paths of the packages
 * @throws as `convertTool`, and what `makeRoom` throws
 */
export async function convertInto(
  { tool, files, name, limits, folder }: ConvertTask,
  makeRoom: (bytes: number) => Promise<void>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  await using opened = new AsyncDisposableStack();
  const sources: Parameters<typeof convertTool>[1][number][] = [];
  for (const { name: fileName, path, content } of files) {
    if (path === null) sources.push({ name: fileName, source: bytesSource(content) });
    else {
      const source = await openFileSource(path);
      opened.defer(() => source.close());
      sources.push({ name: fileName, source });
    }
  }
  let count = 1;
  const further = (): string => packagePath(folder, count++);
  const options = { output: packagePath(folder, 0), further, name, limits, makeRoom };
  const reports = await convertTool(tool, sources, { ...options, ...(signal && { signal }) });
  return reports.map(({ output }: ToolReport) => output);
}

/** An error of content on its way between threads. */
export type ConvertFailure =
  | ({ readonly kind: 'package'; readonly code: PackageErrorCode; readonly entry: string | undefined } & Said)
  | ({ readonly kind: 'jsonl'; readonly code: JsonlErrorCode } & Said);

interface Said {
  readonly message: string;
  readonly location: SourceLocation;
}

export function toConvertFailure(error: unknown): ConvertFailure | undefined {
  if (error instanceof PackageError) {
    const { code, message, location, entry } = error;
    return { kind: 'package', code, message, location, entry };
  }
  if (!(error instanceof JsonlError)) return undefined;
  const { code, message, location } = error;
  return { kind: 'jsonl', code, message, location };
}

export function toConvertError(failure: ConvertFailure): Error {
  const { message, location } = failure;
  if (failure.kind === 'jsonl') return new JsonlError(failure.code, message, location);
  const { code, entry } = failure;
  return new PackageError(code, message, { location, ...(entry !== undefined && { entry }) });
}
