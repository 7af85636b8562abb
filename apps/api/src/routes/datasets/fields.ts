import { DATASET_NAME } from '@svc/jsonl-v23/internal';
import type { Schema } from '@svc/service';

/** A dataset's name. */
export const NAME: Schema = {
  type: 'string',
  ...DATASET_NAME,
  'x-rule': 'must not be blank, and must have no control characters',
  format: 'storable-text',
};

/** A handle; null for none. The store checks the rest of its rules. */
export const HANDLE: Schema = {
  type: ['string', 'null'],
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$',
  'x-rule': 'must have 1 to 96 letters, digits, ".", "_" or "-", and begin with a letter or digit',
  description: 'short name that is unique without regard to case, and may be used wherever an id is',
};

/** A description or notes; null for none. */
export const OPTIONAL_TEXT: Schema = {
  type: ['string', 'null'],
  maxLength: 65_536,
  pattern: '^[^\\u0000]*$',
  'x-rule': 'must hold no NUL',
  format: 'storable-text',
};
