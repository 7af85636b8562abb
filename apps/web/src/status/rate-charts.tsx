import { SimpleGrid } from '@mantine/core';
import { Sparkline } from '../ui/charts/sparkline.tsx';
import { Part } from '../ui/layout/part.tsx';
import { ratesOf, type Totals } from './rates.ts';

const CHARTS = [
  ['requests', 'Requests'],
  ['errors', 'Server errors'],
  ['items', 'Imported items'],
  ['providerCalls', 'Requests to models'],
  ['results', 'Results of runs'],
] as const;

/** What happened per second since the console has been looking. */
export function RateCharts({ looks }: { readonly looks: readonly Totals[] }) {
  return (
    <Part title="Per second, since you first opened this page (one hour at most)">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3, lg: 5 }} spacing="lg">
        {CHARTS.map(([name, title]) => (
          <Sparkline key={name} title={title} values={ratesOf(looks, name)} format={rateText} />
        ))}
      </SimpleGrid>
    </Part>
  );
}

const rateText = (rate: number): string => (rate >= 100 || rate === 0 ? rate.toFixed(0) : rate.toFixed(1));
