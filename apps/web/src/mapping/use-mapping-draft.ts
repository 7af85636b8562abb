import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { completeMapping, type Mapping, type MappingDraft } from './mapping-fields.ts';

const TYPING_MS = 300;

/** A mapping that is being made. */
export interface MappingState {
  readonly draft: MappingDraft;
  readonly setDraft: (draft: MappingDraft) => void;
  /** What the fields show: what an import sends. Null while the prompt is not mapped. */
  readonly shown: Mapping | null;
  /** The same after typing has paused: what a preview asks for. */
  readonly settled: Mapping | null;
}

/** Keeps the mapping of an import; it begins with a suggestion. */
export function useMappingDraft(suggested: MappingDraft): MappingState {
  const [draft, setDraft] = useState<MappingDraft>(suggested);
  const [paused] = useDebouncedValue(draft, TYPING_MS);
  const shown = useMemo(() => completeMapping(draft), [draft]);
  const settled = useMemo(() => completeMapping(paused), [paused]);
  return { draft, setDraft, shown, settled };
}
