/** Items in which two versions differ. */
export interface DiffCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly moved: number;
}

export const NO_DIFFERENCE: DiffCounts = { added: 0, changed: 0, removed: 0, moved: 0 };
