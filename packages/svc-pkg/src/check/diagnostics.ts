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

/** Keeps this many diagnostics of one code, and counts the rest. */
export const MAX_PER_CODE = 1000;

/** Collects what a check reports, in bounded memory. */
export interface DiagnosticCollector {
  report(diagnostic: Diagnostic): void;
  /** The first 1,000 of each code, in the order of the package. */
  readonly diagnostics: readonly Diagnostic[];
  /** How often each code was reported. */
  readonly counts: ReadonlyMap<string, { readonly severity: Diagnostic['severity']; readonly count: number }>;
  readonly errorCount: number;
  readonly styleCount: number;
}

export function collectDiagnostics(): DiagnosticCollector {
  const diagnostics: Diagnostic[] = [];
  const counts = new Map<string, { severity: Diagnostic['severity']; count: number }>();
  const sum = (severity: Diagnostic['severity']): number =>
    [...counts.values()].reduce(
      (total, entry) => (entry.severity === severity ? total + entry.count : total),
      0,
    );
  return {
    diagnostics,
    counts,
    get errorCount() {
      return sum('error');
    },
    get styleCount() {
      return sum('style');
    },
    report(diagnostic) {
      const entry = counts.get(diagnostic.code) ?? { severity: diagnostic.severity, count: 0 };
      counts.set(diagnostic.code, entry);
      entry.count += 1;
      if (entry.count <= MAX_PER_CODE) diagnostics.push(diagnostic);
    },
  };
}
