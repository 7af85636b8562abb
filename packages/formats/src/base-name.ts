import { toDatasetName } from '@svc/jsonl-v23/internal';
import type { ToolFile } from './tool.ts';

/** The name of the first file without its extension and control characters, which datasets may have. */
export function baseName(files: readonly Pick<ToolFile, 'name'>[]): string {
  return datasetName((files[0]?.name ?? '').replace(/\.(?:jsonl|json|eval|ya?ml|csv)$/i, ''));
}

/** The name of the section that a file becomes. */
export const sectionName = (files: readonly ToolFile[], file: ToolFile): string =>
  files.length === 1 ? 'default' : baseName([file]);

/** A text as a name that datasets may have. */
export function datasetName(text: string): string {
  return toDatasetName(text, 'import');
}
