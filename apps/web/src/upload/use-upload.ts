import type { ResponseOf } from '@svc/client';
import { parseJson } from '@svc/jsonl-v23/json';
import {
  keepPreviousData,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { accepted, ConnectionLost } from '../api/api.ts';
import { upload as sendFiles, type UploadForm, uploadForm } from '../api/upload-body.ts';

type UploadedDataset = ResponseOf<'/datasets/upload', 'post', 201>;

/** Sends a form with its progress. `fetch` cannot tell how much was sent, so this is the older interface. */
export function useUpload() {
  const queries = useQueryClient();
  const current = useRef<XMLHttpRequest>(null);
  const [sent, setSent] = useState<{ readonly bytes: number; readonly total: number }>();
  const { mutate, reset, status, data, error } = useMutation({
    mutationFn: (form: UploadForm) =>
      new Promise<UploadedDataset>((resolve, reject) => {
        const request = new XMLHttpRequest();
        current.current = request;
        setSent({ bytes: 0, total: 0 });
        request.upload.addEventListener('progress', ({ loaded, total }) => setSent({ bytes: loaded, total }));
        request.upload.addEventListener('load', () => setSent(undefined));
        request.addEventListener('error', () =>
          reject(new ConnectionLost('The connection was lost while the file was sent.')),
        );
        request.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
        request.addEventListener('load', () => {
          const { status, statusText, responseText } = request;
          const headers = { 'x-request-id': request.getResponseHeader('x-request-id') ?? '' };
          resolve(storedOf(new Response(responseText, { status, statusText, headers })));
        });
        request.open('POST', '/datasets/upload');
        request.send(uploadForm(form));
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['datasets'] }),
  });
  // of other files, nobody would see how this ends
  useEffect(() => () => current.current?.abort(), []);
  const cancel = (): void => {
    current.current?.abort();
    reset();
  };
  return {
    start: mutate,
    cancel,
    status,
    stored: data,
    error,
    /** While bytes are sent; afterwards the service checks and stores them. */
    sent: status === 'pending' ? sent : undefined,
  };
}

const storedOf = async (response: Response): Promise<UploadedDataset> =>
  parseJson(await (await accepted(response)).text()) as unknown as UploadedDataset;

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
