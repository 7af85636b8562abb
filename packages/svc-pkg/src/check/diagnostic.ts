import type { SourceLocation } from '@svc/jsonl-v23';
import type { PackageError } from '@svc/pkg-format';

/** What `check` reports at one location. Errors prevent an import; style does not. */
export interface Diagnostic {
  readonly severity: 'error' | 'style';
  /** An error code of the packages, or `style_...`. */
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
}

/** An error of the packages. */
export function errorDiagnostic({ code, message, location }: PackageError): Diagnostic {
  return { severity: 'error', code, message, location };
}
