import { Modal, type ModalProps } from '@mantine/core';
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
