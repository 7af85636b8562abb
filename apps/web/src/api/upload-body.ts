import { api, dataOf, type ParamsOf, type Received } from './api.ts';

export interface UploadForm {
  readonly files: readonly File[];
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly handle?: string | undefined;
  readonly message?: string | undefined;
  readonly mapping?: string | undefined;
  readonly convert?: boolean | undefined;
}

/** The form of an upload; its fields come before its files, so that they are known when a file arrives. */
export function uploadForm({ files, ...fields }: UploadForm): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== '') form.append(name, String(value));
  for (const file of files) form.append('file', file, file.name);
  return form;
}

export const upload = <Path extends '/datasets/upload' | '/datasets/upload/preview' | '/datasets/{id}/items'>(
  path: Path,
  form: UploadForm,
  params: ParamsOf<Path, 'post'>,
  signal?: AbortSignal,
): Promise<Received<Path, 'post'>> => {
  // the types describe the form as an object
  const body = { body: { file: [] }, bodySerializer: () => uploadForm(form) };
  return dataOf(
    api.POST(path as '/datasets/upload', { params, ...body, ...(signal && { signal }) } as never),
  ) as never;
};
