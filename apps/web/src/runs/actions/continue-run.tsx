import { useForm } from '@mantine/form';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { Fields } from '../../ui/form/fields.tsx';
import { FormDialog } from '../../ui/form/form-dialog.tsx';
import { useSaved } from '../../ui/form/use-saved.ts';
import { formatCost } from '../../ui/text/formats.ts';
import type { Run } from '../use-run.ts';

/** Makes the results that a run lacks because it has reached its maximum cost, up to a new one. */
export function ContinueRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  const saved = useSaved(['run', run.id], ['runs']);
  const { max_cost } = run.config as { readonly max_cost?: { readonly amount: number } | null };
  const form = useForm<{ maxCost: number | string }>({ initialValues: { maxCost: max_cost?.amount ?? '' } });
  const { maxCost } = form.values;
  const send = (): Promise<void> => {
    const params = { path: { id: run.id } };
    const body = { only: 'missing', max_cost: maxCost === '' ? null : { amount: Number(maxCost) } } as const;
    return saved(dataOf(api.POST('/runs/{id}/retry', { params, body })));
  };
  return (
    <FormDialog title="Continue the run" action="Continue" submit={send} onClose={onClose}>
      <Fields
        form={form}
        fields={[
          {
            ...{ name: 'maxCost', label: 'Maximum cost', kind: 'decimal', min: 0, max: 1e9, isFirst: true },
            description: `Of the whole run, which has cost ${formatCost(run.cost)} so far. Empty for no limit`,
          },
        ]}
      />
    </FormDialog>
  );
}
