import type { Schema } from '@svc/runtime';
import { MAPPING, PREVIEW } from '../hub/schema.ts';
import { JOB } from '../jobs/serialize.ts';
import { PLANNED, RUN, RUN_RESULT } from '../runs/serialize.ts';
import { DATASET, DATASET_SUMMARY, DIFF, ITEM, PROBLEM, SECTION } from './schemas.ts';

const NAMES: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [DATASET, 'Dataset'],
  [DATASET_SUMMARY, 'DatasetSummary'],
  [DIFF, 'DatasetDiff'],
  [ITEM, 'ListedItem'],
  [JOB, 'Job'],
  [MAPPING, 'Mapping'],
  [PLANNED, 'RunPlan'],
  [PREVIEW, 'Preview'],
  [PROBLEM, 'Problem'],
  [RUN, 'Run'],
  [RUN_RESULT, 'RunResult'],
  [SECTION, 'Section'],
]);

/** Collects the schemas of a document under names, so that generated clients have types with names. */
export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  /** The schema for the document, or a reference to it; an object without a name gets this one. */
  add(schema: Schema, name: string): Schema;
}

export function createComponents(): Components {
  const schemas: Record<string, Schema> = {};
  const refer = (name: string, schema: Schema): Schema => {
    schemas[name] ??= documented(schema);
    return { $ref: `#/components/schemas/${name}` };
  };
  const visit = (value: unknown): unknown => {
    const name = NAMES.get(value);
    return name === undefined ? documented(value) : refer(name, value as Schema);
  };
  function documented<T>(value: T): T;
  function documented(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).filter(([key]) => key !== 'x-rule');
    return Object.fromEntries(
      members.map(([key, member]) => [
        key,
        key === 'pattern' && typeof member === 'string' ? portablePattern(member) : visit(member),
      ]),
    );
  }
  return {
    schemas,
    add(schema, fallback) {
      const name = NAMES.get(schema) ?? (schema['properties'] === undefined ? undefined : fallback);
      return name === undefined ? documented(schema) : refer(name, schema);
    },
  };
}

/** `(?!...)`, with groups inside that hold no further groups. */
const LOOKAHEAD = /\(\?!(?:[^()]|\([^()]*\))*\)/g;

/**
 * The pattern without look-ahead, which Rust's `regex` (pydantic) and RE2 (Go) do not have: it matches everything that the
 * service accepts, and a little more.
 */
function portablePattern(pattern: string): string {
  return pattern.replaceAll(LOOKAHEAD, '');
}
