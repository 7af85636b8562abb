import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import { DeleteDialog } from '../../ui/form/delete-dialog.tsx';
import { formatCount } from '../../ui/text/formats.ts';
import { nameOf, type Run } from '../use-run.ts';

/** Deletes a run with its results, after its name was typed. */
export function DeleteRun({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const api = useApi();
  return (
    <DeleteDialog
      what="run"
      name={nameOf(run)}
      warning={`This deletes the run with its ${formatCount(run.counts.done)} results.`}
      remove={() => dataOf(api.DELETE('/runs/{id}', { params: { path: { id: run.id } } }))}
      list="/runs"
      shownBy={['run', run.id]}
      onClose={onClose}
    />
  );
}
