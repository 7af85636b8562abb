import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { plainText } from '../ui/text/pretty-json.ts';
import type { MappingDraft } from './mapping-fields.ts';

/** What a preview says about the mapping of its columns. */
export interface PreviewedTable {
  readonly features: readonly { readonly name: string; readonly dtype: string }[];
  readonly samples: readonly object[];
  readonly suggested_mapping: object | null;
  readonly suggested_mapping_reasons: object | null;
}

/** A mapping to begin with, and why it has a key, by key. */
export interface SuggestedMapping {
  readonly mapping: MappingDraft;
  readonly reasons: Readonly<Record<string, string>>;
}

/** A longer answer is one of many that would be right. */
const MAX_WORDS = 5;
const MAX_LENGTH = 60;

/** The suggestion of the service; where its rows have short answers and no type, items are `exact`. */
export function suggestMapping({
  samples,
  suggested_mapping,
  suggested_mapping_reasons,
}: PreviewedTable): SuggestedMapping {
  const mapping = (suggested_mapping ?? {}) as MappingDraft;
  const reasons = (suggested_mapping_reasons ?? {}) as Readonly<Record<string, string>>;
  const { answer_column, answer_pattern, default_type, type_column, choices_column, choices_columns } =
    mapping;
  const isOpen = [answer_pattern, default_type, type_column, choices_column, choices_columns].every(
    (key) => key === undefined || key === null,
  );
  if (!answer_column || !isOpen) return { mapping, reasons };
  const answers = samples
    .map((row) => getMember(row as JsonObject, answer_column) ?? null)
    .filter((answer) => answer !== null);
  const areShort = answers.every((answer) => {
    const text = plainText(answer, MAX_LENGTH + 1).trim();
    return typeof answer !== 'object' && text.length <= MAX_LENGTH && text.split(' ').length <= MAX_WORDS;
  });
  if (answers.length === 0 || !areShort) return { mapping, reasons };
  return {
    mapping: { ...mapping, default_type: 'exact' },
    reasons: { ...reasons, default_type: 'The answers are short: an output is right if it is the same.' },
  };
}
