import { Modal, type ModalProps } from '@mantine/core';
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useNotify } from '../layout/notices.tsx';
import { FormBody, type FormBodyProps } from './form-body.tsx';

/** A dialog with fields that does one thing and closes. */
export function FormDialog({
  title,
  size,
  ...body
}: FormBodyProps & { readonly title: string } & Pick<ModalProps, 'size'>) {
  return (
    <Modal opened onClose={body.onClose} title={title} size={size ?? 'md'}>
      <FormBody {...body} />
    </Modal>
  );
}

/** Saves something, refreshes the queries that show it, and tells the user. */
export function useSaved(...shownBy: readonly QueryKey[]): (saving: Promise<unknown>) => Promise<void> {
  const queries = useQueryClient();
  const notify = useNotify();
  return async (saving) => {
    await saving;
    await Promise.all(shownBy.map((queryKey) => queries.invalidateQueries({ queryKey })));
    notify('Saved.');
  };
}
