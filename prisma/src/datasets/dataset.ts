export type DatasetSource = 'hub' | 'pkg_zip';

/** A stored dataset, as lists and responses show it. */
export interface DatasetSummary {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly notes: string | null;
  readonly source: DatasetSource;
  /** 64 hex digits. */
  readonly versionHash: string;
  /** Canonical JSON text. */
  readonly schema: string;
  readonly sectionCount: number;
  readonly itemCount: number;
  readonly assetCount: number;
  /** At most the first {@link SUMMARY_SECTIONS}, in order. */
  readonly sections: readonly SectionSummary[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SectionSummary {
  readonly id: string;
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
}

/** Sections that a summary lists. */
export const SUMMARY_SECTIONS = 100;
