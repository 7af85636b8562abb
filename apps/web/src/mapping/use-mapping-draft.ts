import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { hasFileColumns, keptColumns, withMetadata } from './kept-columns.ts';
import { completeMapping, type Mapping, type MappingDraft } from './mapping-fields.ts';
import { type PreviewedTable, type SuggestedMapping, suggestMapping, withType } from './suggest-mapping.ts';

const TYPING_MS = 300;

/** A mapping that is being made. */
export interface MappingState {
  readonly draft: MappingDraft;
  readonly setDraft: (draft: MappingDraft) => void;
  /** Why the suggestion has a key, by key. */
  readonly reasons: SuggestedMapping['reasons'];
  /** Columns that no field uses. */
  readonly others: readonly string[];
  /** Whether these columns are kept as metadata. */
  readonly keepsOthers: boolean;
  readonly setKeepsOthers: (keeps: boolean) => void;
  /** What the fields show: what an import sends. Null while the prompt is not mapped. */
  readonly shown: Mapping | null;
  /** The mapping after typing has paused: what a preview asks for. */
  readonly settled: Mapping | null;
}

/** Keeps the mapping of an import; it begins with a suggestion, and keeps every other column as metadata. */
export function useMappingDraft(preview: PreviewedTable): MappingState {
  const { features, samples } = preview;
  const suggested = useMemo(() => suggestMapping(preview), [preview]);
  const [draft, setDraft] = useState<MappingDraft>(suggested.mapping);
  const [keepsOthers, setKeepsOthers] = useState(true);
  const others = useMemo(() => keptColumns(features, draft), [features, draft]);
  const shown = useMemo(
    () => completeMapping(keepsOthers ? withMetadata(draft, others, hasFileColumns(features)) : draft),
    [draft, others, keepsOthers, features],
  );
  const [settled] = useDebouncedValue(shown, TYPING_MS);
  const change = (next: MappingDraft): void =>
    setDraft(next.answer_column === draft.answer_column ? next : withType(samples, next));
  return {
    ...{ draft, setDraft: change, reasons: suggested.reasons },
    ...{ others, keepsOthers, setKeepsOthers, shown, settled },
  };
}
