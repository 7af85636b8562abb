import type { SourceLocation } from '@svc/jsonl-v23';

/** What `check` reports at one location. Errors prevent an import; style does not. */
export interface Diagnostic {
  readonly severity: 'error' | 'style';
  /** An error code of the packages, or `style_...`. */
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
}
