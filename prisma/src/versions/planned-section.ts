import type { ItemRange } from './ranges.ts';
import type { SectionState } from './read-version.ts';

/** Items that the transaction has stored, as parts to which no section refers yet. */
export interface StagedItems {
  /** Name of the section for which they are; null if the body does not name one. */
  readonly section: string | null;
  /** Whole parts, in the order of the items. */
  readonly ranges: readonly ItemRange[];
}

/** A planned section: an existing one, or ranges to store. */
export type PlannedSection = SectionState | NewSection;

export interface NewSection {
  readonly id: null;
  readonly name: string;
  readonly ranges: readonly ItemRange[];
  /** The section to whose end items were added; null if its other items changed. */
  readonly appendedTo: SectionState | null;
}
