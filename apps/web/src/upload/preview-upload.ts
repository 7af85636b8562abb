import type { ApiClient, ResponseOf } from '@svc/client';
import { dataOf } from '../api/api-problem.ts';
import { type UploadForm, uploadBody } from '../api/upload-body.ts';

export type UploadPreview = ResponseOf<'/datasets/upload/preview', 'post'>;

/**
 * The first rows of files as a table; with a mapping, also as items. Nothing is stored.
 *
 * @throws ApiProblem for an error response; ConnectionLost without a response
 */
export async function previewUpload(
  api: ApiClient,
  form: UploadForm,
  signal: AbortSignal,
): Promise<UploadPreview> {
  return await dataOf(api.POST('/datasets/upload/preview', { ...uploadBody(form), signal }));
}
