import type { Place } from '@svc/jsonl-v23';

/** What `check` found at one place. Errors keep a package from being imported; style findings do not. */
export interface Finding {
  readonly severity: 'error' | 'style';
  /** a code of the packages, or `style_...` */
  readonly code: string;
  readonly message: string;
  readonly place: Place;
}

/** Takes findings as they are made. */
export type Report = (finding: Finding) => void;
