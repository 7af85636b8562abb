import type { ResponseOf } from '@svc/client';
import { parseJson } from '@svc/jsonl-v23/json';
import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { ApiProblem, ConnectionLost, toProblem } from '../api/api-problem.ts';
import { upload as sendFiles, type UploadForm, uploadForm } from '../api/upload-body.ts';

export type Uploaded = ResponseOf<'/datasets/upload', 'post', 201>;

/** The state of an upload. */
type UploadState =
  | { readonly state: 'idle' }
  | { readonly state: 'sending'; readonly sentBytes: number; readonly totalBytes: number }
  /** All bytes were sent; the service checks and stores them. */
  | { readonly state: 'storing' }
  | { readonly state: 'stored'; readonly dataset: Uploaded }
  | { readonly state: 'failed'; readonly error: Error };

/** Sends a form with its progress. `fetch` cannot tell how much was sent, so this is the older interface. */
export function useUpload(): {
  readonly upload: UploadState;
  readonly start: (form: UploadForm) => void;
  readonly cancel: () => void;
} {
  const queries = useQueryClient();
  const [upload, setUpload] = useState<UploadState>({ state: 'idle' });
  const current = useRef<XMLHttpRequest | null>(null);
  const cancel = useCallback(() => {
    current.current?.abort();
    setUpload({ state: 'idle' });
  }, []);
  const start = useCallback(
    (form: UploadForm) => {
      const request = new XMLHttpRequest();
      current.current = request;
      request.open('POST', '/datasets/upload');
      request.upload.addEventListener('progress', ({ loaded, total }) =>
        setUpload({ state: 'sending', sentBytes: loaded, totalBytes: total }),
      );
      request.upload.addEventListener('load', () => setUpload({ state: 'storing' }));
      request.addEventListener('error', () =>
        setUpload({
          state: 'failed',
          error: new ConnectionLost('The connection was lost while the file was sent.'),
        }),
      );
      request.addEventListener('load', () => {
        setUpload(outcomeOf(request));
        void queries.invalidateQueries({ queryKey: ['datasets'] });
      });
      setUpload({ state: 'sending', sentBytes: 0, totalBytes: 0 });
      request.send(uploadForm(form));
    },
    [queries],
  );
  return { upload, start, cancel };
}

function outcomeOf(request: XMLHttpRequest): UploadState {
  const { status, statusText, responseText } = request;
  if (status >= 200 && status < 300)
    return { state: 'stored', dataset: parseJson(responseText) as unknown as Uploaded };
  const headers = new Headers({ 'x-request-id': request.getResponseHeader('x-request-id') ?? '' });
  let body: unknown;
  try {
    body = JSON.parse(responseText);
  } catch {
    body = undefined;
  }
  return { state: 'failed', error: new ApiProblem(toProblem(body, { status, statusText, headers })) };
}

export type UploadPreview = ResponseOf<'/datasets/upload/preview', 'post'>;

/** The first rows of files as a table; with a mapping, as JSON text, also as items. Nothing is stored. */
export function useUploadPreview(files: readonly File[], mapping?: string): UseQueryResult<UploadPreview> {
  const key = files.map(({ name, size, lastModified }) => `${name} ${size} ${lastModified}`);
  return useQuery({
    queryKey: ['upload-preview', key, mapping],
    queryFn: ({ signal }) => sendFiles('/datasets/upload/preview', { files, mapping }, {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}
