import type { ResponseOf } from '@svc/client';
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { uploadBody } from '../api/upload-body.ts';
import { useRead } from '../api/use-read.ts';

export type UploadPreview = ResponseOf<'/datasets/upload/preview', 'post'>;

/** The first rows of files as a table; with a mapping, as JSON text, also as items. Nothing is stored. */
export function useUploadPreview(files: readonly File[], mapping?: string): UseQueryResult<UploadPreview> {
  const key = files.map(({ name, size, lastModified }) => `${name} ${size} ${lastModified}`);
  return useRead({
    queryKey: ['upload-preview', key, mapping],
    read: (api, signal) =>
      api.POST('/datasets/upload/preview', { ...uploadBody({ files, mapping }), signal }),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}
