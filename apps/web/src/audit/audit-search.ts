import { oneOf, searchParser, text } from '../ui/search-params.ts';

export const AUDIT_ACTIONS = [
  'dataset.create',
  'dataset.change',
  'dataset.update',
  'dataset.restore',
  'dataset.rename',
  'dataset.delete',
  'version.delete',
  'run.create',
  'run.finish',
  'run.cancel',
  'run.retry',
  'run.rescore',
  'run.update',
  'run.delete',
  'results.push',
  'scores.push',
  'label.set',
  'label.delete',
  'settings.update',
  'job.cancel',
] as const;

/** Reads the address of the audit. */
export const parseAuditSearch = searchParser({
  actor: text,
  action: oneOf(...AUDIT_ACTIONS),
  object: text,
  from: text,
  to: text,
  cursor: text,
});
