import type { ResponseOf } from '@svc/client';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { uploadBody } from '../api/upload-body.ts';

export type UploadPreview = ResponseOf<'/datasets/upload/preview', 'post'>;

/** The first rows of files as a table; with a mapping, as JSON text, also as items. Nothing is stored. */
export function useUploadPreview(files: readonly File[], mapping?: string): UseQueryResult<UploadPreview> {
  const api = useApi();
  const key = files.map(({ name, size, lastModified }) => `${name} ${size} ${lastModified}`);
  return useQuery({
    queryKey: ['upload-preview', key, mapping],
    queryFn: ({ signal }) =>
      dataOf(api.POST('/datasets/upload/preview', { ...uploadBody({ files, mapping }), signal })),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
}
