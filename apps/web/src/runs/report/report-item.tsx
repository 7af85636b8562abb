import { Menu } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { loadedAgain } from '../../api/service-responds.ts';
import { ErrorView } from '../../ui/error-view.tsx';
import { useNotify } from '../../ui/layout/notices.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { useReadDatasetNames } from '../dataset-names.ts';
import { nameOf, type Run } from '../use-run.ts';

const load = loadedAgain(() => import('./make-report.tsx'));

/** An entry of a menu that saves the report of a run. The file is made in the browser. */
export function ReportItem({ run }: { readonly run: Run }) {
  const api = useApi();
  const notify = useNotify();
  const readNames = useReadDatasetNames();
  const [read, setRead] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const { makeReport } = await load();
      saveFile(await makeReport(api, run, (await readNames([run]))(run), setRead), `${nameOf(run)}.html`);
    },
    onSuccess: () => notify('The report is saved.'),
  });
  return (
    <>
      <Menu.Item closeMenuOnClick={false} disabled={isPending} onClick={() => mutate()}>
        {isPending
          ? `Reading results: ${formatCount(read)} of ${formatCount(run.counts.done)}`
          : 'Report (one HTML file)'}
      </Menu.Item>
      {error !== null && <ErrorView error={error} />}
    </>
  );
}
