import { ApiProblem, ConnectionLost, toProblem } from '../api/api-problem.ts';
import { exact } from '../api/exact.ts';
import { type UploadForm, uploadForm } from '../api/upload-body.ts';
import type { HubPreview } from '../hub-import/use-hub-preview.ts';

export type UploadPreview = Pick<HubPreview, 'features' | 'samples' | 'num_rows' | 'suggested_mapping'> & {
  readonly kind: string;
  readonly format: string;
  readonly items?: readonly unknown[];
  readonly suggested_mapping_reasons?: unknown;
};

/** The first rows of files as a table; with a mapping, also as items. Nothing is stored. */
export async function previewUpload(form: UploadForm, signal: AbortSignal): Promise<UploadPreview> {
  const response = await fetch('/datasets/upload/preview', {
    method: 'POST',
    body: uploadForm(form),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause;
    throw new ConnectionLost('The service does not respond.', { cause });
  });
  const text = await response.text();
  if (response.ok) return exact<UploadPreview>(text);
  throw new ApiProblem(toProblem(jsonOf(text), response));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
