import { REQUEST_VALUES } from '@svc/client';
import { oneOf, searchParser, text } from '../ui/search-params.ts';

export const AUDIT_ACTIONS = REQUEST_VALUES['/audit'].action;

/** Reads the address of the audit. */
export const parseAuditSearch = searchParser({
  actor: text,
  action: oneOf(...AUDIT_ACTIONS),
  object: text,
  from: text,
  to: text,
  cursor: text,
});
