import { IconDownload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { loadedAgain } from '../api/service-responds.ts';
import { useReadDatasetNames } from '../runs/dataset-names.ts';
import { nameOf, type Run } from '../runs/use-run.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { useNotify } from '../ui/layout/notices.tsx';
import { saveFile } from '../ui/save-file.ts';
import { SmallButton } from '../ui/small-button.ts';
import type { CompareSearch } from './compare-search.ts';

const load = loadedAgain(() => import('./make-report.tsx'));

/** Saves a comparison as one HTML file. */
export function ReportButton({
  runs,
  compared,
}: {
  readonly runs: readonly Run[];
  /** How items pair, and whose scores are compared. */
  readonly compared: Pick<CompareSearch, 'by' | 'scorer'>;
}) {
  const api = useApi();
  const notify = useNotify();
  const readNames = useReadDatasetNames();
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const { makeReport } = await load();
      saveFile(
        await makeReport(api, runs, await readNames(runs), compared),
        `${runs.map(nameOf).join(' and ')}.html`,
      );
    },
    onSuccess: () => notify('The report is saved.'),
  });
  return (
    <>
      <SmallButton leftSection={<IconDownload size={16} />} loading={isPending} onClick={() => mutate()}>
        Report (one HTML file)
      </SmallButton>
      {error !== null && <ErrorView error={error} />}
    </>
  );
}
