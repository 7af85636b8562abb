import { createHash } from 'node:crypto';
import type { Item, SourceLocation } from '@svc/jsonl-v23';
import { canonicalJson, getMember } from '@svc/jsonl-v23/json';
import type { CheckedLine } from './check-lines.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { ShortenedLines } from './shorten-lines.ts';

/** What `check --strict` judges, as docs/cli.md says it. */
export const STYLE_CODES = {
  style_byte_order_mark: 'the file begins with a byte order mark',
  style_crlf: 'lines end with CR LF (once for a section, at the first)',
  style_blank_line: 'the line is blank',
  style_no_final_newline: 'the last line has no line end',
  style_empty_section: 'the section has no items',
  style_not_canonical: 'the line is not written as an export writes it',
  style_missing_id: 'the item has no id',
  style_duplicate_id:
    'an item before this one, in any section, has the same id (the first 1,000,000 ids are compared)',
  style_unknown_type: 'the type is none that the format names; often a typing error',
  style_ignored_entry: 'the file is no part of a package; an import ignores it',
  style_unused_file: 'no item refers to the file (looked for where there is no error)',
} as const;

/** Item types that the format names; others are allowed, and easily a typing error. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(['freeform', 'multiple_choice', 'exact', 'numeric', 'code']);

/** So many ids are held to find one that stands twice; some 100 MB at most. */
const MAX_COMPARED_IDS = 1_000_000;

const CARRIAGE_RETURN = 13;

/** Judges what is allowed and still better otherwise. Lines of all sections go through one judge, in order. */
export interface Linter {
  /** Starts a section. */
  begin(file: string): void;
  line(checked: CheckedLine): Diagnostic[];
  /** Ends the section. */
  end(facts: Pick<ShortenedLines, 'hasByteOrderMark' | 'endsWithLineFeed'>): Diagnostic[];
}

/** Makes a judge for one package. */
export function createStyleJudge(): Linter {
  const ids = new Set<string>();
  let file = '';
  let itemCount = 0;
  let hasCarriageReturn = false;
  let lastLine = 1;

  function idFinding(item: Item, location: SourceLocation): Diagnostic | null {
    const id = getMember(item, 'id');
    if (id === undefined) return style('style_missing_id', 'The item has no id', location);
    const text = canonicalJson(id);
    const key = text.length <= 64 ? text : createHash('sha256').update(text).digest('base64');
    if (ids.has(key)) {
      const shown = text.length > 100 ? `${text.slice(0, 99)}…` : text;
      return style('style_duplicate_id', `An item before this one has the id ${shown} too`, {
        ...location,
        path: '/id',
      });
    }
    if (ids.size < MAX_COMPARED_IDS) ids.add(key);
    return null;
  }

  return {
    begin(section) {
      file = section;
      itemCount = 0;
      hasCarriageReturn = false;
      lastLine = 1;
    },

    line({ location, bytes, item, error }) {
      const findings: (Diagnostic | null)[] = [];
      lastLine = location.line ?? lastLine;
      const endsWithReturn = bytes.at(-1) === CARRIAGE_RETURN;
      if (endsWithReturn && !hasCarriageReturn) {
        hasCarriageReturn = true;
        findings.push(style('style_crlf', 'Lines end with CR LF; an export ends them with LF', location));
      }
      if (item === null) {
        if (error === null) findings.push(style('style_blank_line', 'The line is blank', location));
        return present(findings);
      }
      itemCount++;
      const text = endsWithReturn ? bytes.subarray(0, -1) : bytes;
      if (!Buffer.from(canonicalJson(item)).equals(text)) {
        findings.push(
          style('style_not_canonical', 'The line is not in canonical form, as an export writes it', location),
        );
      }
      const type = getMember(item, 'type');
      if (typeof type === 'string' && !KNOWN_TYPES.has(type)) {
        const known = [...KNOWN_TYPES].join(', ');
        const shown = JSON.stringify(type.length > 100 ? `${type.slice(0, 99)}…` : type);
        findings.push(
          style('style_unknown_type', `The type ${shown} is none of ${known}`, {
            ...location,
            path: '/type',
          }),
        );
      }
      findings.push(idFinding(item, location));
      return present(findings);
    },

    end({ hasByteOrderMark, endsWithLineFeed }) {
      const findings: Diagnostic[] = [];
      const first = { file, line: 1 };
      if (hasByteOrderMark)
        findings.push(style('style_byte_order_mark', 'The file begins with a byte order mark', first));
      if (itemCount === 0) findings.push(style('style_empty_section', 'The section has no items', { file }));
      if (!endsWithLineFeed) {
        findings.push(
          style('style_no_final_newline', 'The last line has no line end', { file, line: lastLine }),
        );
      }
      return findings;
    },
  };
}

/** What a package's files say of its style, apart from its lines. */
export function fileFindings(ignored: readonly string[], unused: readonly string[]): Diagnostic[] {
  return [
    ...ignored.map((file) =>
      style('style_ignored_entry', 'The file is no part of a package; an import ignores it', { file }),
    ),
    ...unused.map((file) => style('style_unused_file', 'No item refers to the file', { file })),
  ];
}

function style(code: keyof typeof STYLE_CODES, message: string, location: SourceLocation): Diagnostic {
  return { severity: 'style', code, message, location };
}

const present = (findings: readonly (Diagnostic | null)[]): Diagnostic[] =>
  findings.filter((finding) => finding !== null);
