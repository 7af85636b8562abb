import example from '@examples/capitals.pkg.zip?url';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { upload } from '../../api/upload-body.ts';

/** Uploads the example package, which is a file of the console, and opens it. */
export function useExample(): UseMutationResult<unknown, Error, void> {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async () => {
      const archive = await (await fetch(example)).blob();
      const file = new File([archive], 'capitals.pkg.zip');
      return await upload('/datasets/upload', { files: [file] }, {});
    },
    onSuccess: async (dataset) => {
      await queries.invalidateQueries({ queryKey: ['datasets'] });
      if (dataset !== undefined && 'item_count' in dataset && 'id' in dataset)
        await navigate({ to: '/datasets/$id', params: { id: dataset.id } });
    },
  });
}
