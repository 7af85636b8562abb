import { useForm } from '@mantine/form';
import { Fields } from './form/fields.tsx';
import { FormDialog } from './form/form-dialog.tsx';

/** Asks for the name of a view. The form is loaded when it is needed. */
export default function NameView(props: {
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}) {
  const { onSave, onClose } = props;
  const form = useForm({ initialValues: { name: '' } });
  const name = form.values.name.trim();
  return (
    <FormDialog
      title="Save view"
      action="Save"
      isReady={name !== ''}
      submit={async () => onSave(name)}
      onClose={onClose}
    >
      <Fields
        form={form}
        fields={[
          {
            name: 'name',
            label: 'Name',
            description: 'Keeps filters, columns and order in this browser',
            maxLength: 60,
            isFirst: true,
          },
        ]}
      />
    </FormDialog>
  );
}
