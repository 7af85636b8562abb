import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { loadedAgain } from '../api/service-responds.ts';
import type { CompareSearch } from '../compare/compare-search.ts';
import { nameOf, type Run, useReadDatasetNames } from '../runs/queries.ts';
import { useNotify } from '../ui/layout/notices.tsx';
import { ErrorView } from '../ui/query-state.tsx';
import { formatCount } from '../ui/text/formats.ts';

const ofRun = loadedAgain(() => import('./run-report.ts'));
const ofRuns = loadedAgain(() => import('./comparison-report.ts'));

export function ReportAction({
  runs,
  how = {},
  children,
}: {
  readonly runs: readonly Run[];
  readonly how?: Pick<CompareSearch, 'by' | 'scorer'>;
  readonly children: (label: string, save: () => void, isPending: boolean) => ReactNode;
}) {
  const notify = useNotify();
  const readNames = useReadDatasetNames();
  const [read, setRead] = useState(0);
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      const datasetOf = await readNames(runs);
      const [first, ...others] = runs;
      if (first === undefined) return;
      saveFile(
        others.length === 0
          ? await (await ofRun()).runReport(first, datasetOf(first), setRead)
          : await (await ofRuns()).comparisonReport(runs, datasetOf, how),
        `${runs.map(nameOf).join(' and ')}.html`,
      );
    },
    onSuccess: () => notify('The report is saved.'),
  });
  const progress = read === 0 ? '' : `: ${formatCount(read)} results read`;
  return (
    <>
      {children(isPending ? `Making the report${progress}` : 'Report (one HTML file)', mutate, isPending)}
      {error !== null && <ErrorView error={error} />}
    </>
  );
}

/** Characters that file systems refuse. */
const REFUSED = /[^\p{L}\p{N} ._()-]+/gu;

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(REFUSED, '_').slice(-120);
  link.click();
  // after the download has begun
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
