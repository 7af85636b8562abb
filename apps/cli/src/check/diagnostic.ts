import type { SourceLocation } from '@svc/jsonl-v23';

/** What `check` found at one place. Errors keep a package from being imported; style findings do not. */
export interface Diagnostic {
  readonly severity: 'error' | 'style';
  /** a code of the packages, or `style_...` */
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
}

/** Takes findings as they are made. */
export type Report = (finding: Diagnostic) => void;
