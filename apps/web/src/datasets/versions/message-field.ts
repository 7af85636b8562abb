import type { Field } from '../../ui/form/fields.tsx';

/** What the history says of a change. */
export const MESSAGE_FIELD: Field = {
  name: 'message',
  label: 'Message',
  description: 'What the history says of the change',
  maxLength: 1000,
};
