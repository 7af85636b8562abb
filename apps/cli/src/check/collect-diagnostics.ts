import type { Diagnostic, Report } from './diagnostic.ts';

/** So many findings of one code are given in full; the others are counted. */
export const MAX_FINDINGS_PER_CODE = 1000;

/** Keeps what a check reports within bounds, however much is wrong. */
export interface FindingCollector {
  readonly report: Report;
  /** the first 1,000 of each code, in the order of the package */
  readonly findings: readonly Diagnostic[];
  /** how often each code was found */
  readonly counts: ReadonlyMap<string, { readonly severity: Diagnostic['severity']; readonly count: number }>;
  readonly errorCount: number;
  readonly styleCount: number;
}

export function collectFindings(): FindingCollector {
  const findings: Diagnostic[] = [];
  const counts = new Map<string, { severity: Diagnostic['severity']; count: number }>();
  const sum = (severity: Diagnostic['severity']): number =>
    counts.values().reduce((total, entry) => (entry.severity === severity ? total + entry.count : total), 0);
  return {
    findings,
    counts,
    get errorCount() {
      return sum('error');
    },
    get styleCount() {
      return sum('style');
    },
    report(finding) {
      const entry = counts.get(finding.code) ?? { severity: finding.severity, count: 0 };
      counts.set(finding.code, entry);
      entry.count++;
      if (entry.count <= MAX_FINDINGS_PER_CODE) findings.push(finding);
    },
  };
}
