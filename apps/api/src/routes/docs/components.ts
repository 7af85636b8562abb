import {
  CHECKER_NAME_SCHEMA,
  CHECKER_OPTIONS_SCHEMA,
  CHECKER_SCHEMA,
  CHECKER_SCHEMAS,
  JUDGE_SCHEMA,
  PRICE_SCHEMA,
  PROVIDER_SCHEMA,
  PROVIDER_SCHEMAS,
  RUN_CONFIG_SCHEMA,
  SCORER_SCHEMA,
  SELECT_SCHEMA,
} from '@svc/evaluation';
import type { Schema } from '@svc/service';
import { DATASET_VERSION } from '../datasets/versions.ts';
import { DRY_RUN, MAPPING, PREVIEW } from '../hub/schema.ts';
import { JOB } from '../jobs.ts';
import { AGREEMENT, COMPARISON, LABEL, LABELS } from '../runs/score-schemas.ts';
import { PLAN, PLANNED, RUN, RUN_RESULT, STORED_CONFIG } from '../runs/serialize.ts';
import { SESSION } from '../session.ts';
import { SETTINGS } from '../settings.ts';
import { STATUS } from '../status.ts';
import { UPLOAD_PREVIEW } from '../uploads/upload.ts';
import { UPLOAD_FORM } from '../uploads/upload-form.ts';
import {
  CHANGE,
  CHANGED_DATASET,
  CHANGED_ITEM,
  DATASET,
  DATASET_SUMMARY,
  DIFF,
  ITEM,
  LISTED_DATASET,
  PLACED_DIFFERENCE,
  PROBLEM,
  SECTION,
} from './schemas.ts';

interface Named {
  readonly name: string;
  /** For a schema without a `description`. */
  readonly description?: string;
}

const NAMED: ReadonlyMap<unknown, Named> = new Map<unknown, Named>([
  [
    CHANGED_ITEM.schema,
    { name: 'ChangedItem', description: 'an item with other content, and its members that differ' },
  ],
  [PLACED_DIFFERENCE.schema, { name: 'PlacedDifference', description: 'an item that is added or removed' }],
  [DATASET, { name: 'Dataset', description: 'a dataset with its whole `schema`' }],
  [DATASET_SUMMARY, { name: 'DatasetSummary', description: 'a dataset without a large `schema`' }],
  [LISTED_DATASET, { name: 'ListedDataset', description: 'a dataset as it appears in lists' }],
  [CHANGE, { name: 'DatasetChange', description: 'how a version differs from the one before' }],
  [CHANGED_DATASET, { name: 'ChangedDataset', description: 'a dataset after a change, and what changed' }],
  [DATASET_VERSION.schema, { name: 'DatasetVersion', description: 'a version in the history of a dataset' }],
  [DIFF, { name: 'DatasetDiff', description: 'how the items of two datasets differ, a page at a time' }],
  [DRY_RUN, { name: 'DryRun', description: 'what an import or upload would store, and its errors' }],
  [ITEM, { name: 'ListedItem', description: 'an item with its position in the dataset' }],
  [JOB, { name: 'Job', description: 'an import or upload in the background' }],
  [MAPPING, { name: 'Mapping' }],
  [PREVIEW, { name: 'HubPreview', description: 'the columns, splits and first rows of a hub dataset' }],
  [PROBLEM, { name: 'Problem', description: 'an error, with the members of RFC 9457' }],
  [SECTION.schema, { name: 'Section', description: 'a section of a dataset' }],
  [UPLOAD_FORM, { name: 'UploadForm', description: 'the files of an upload, and how to read them' }],
  [PLANNED, { name: 'PlannedRun', description: 'what a run would do' }],
  [PLAN, { name: 'RunPlan', description: 'counts of items and requests' }],
  [RUN, { name: 'Run', description: 'a run of a dataset, with its progress and scores' }],
  [RUN_RESULT, { name: 'RunResult', description: 'the result of one item and repetition' }],
  [COMPARISON, { name: 'RunComparison', description: 'how two runs differ, and a page of those items' }],
  [LABEL.schema, { name: 'Label', description: 'what a person says of an output' }],
  [LABELS, { name: 'RunLabels', description: 'a page of the labels of a run, and a summary of all' }],
  [
    AGREEMENT,
    { name: 'RunAgreement', description: 'how a scorer agrees with people, and where it does not' },
  ],
  [SESSION, { name: 'Session', description: 'who the caller is' }],
  [SETTINGS, { name: 'Settings', description: 'what an operator can change at run time' }],
  [STATUS, { name: 'Status', description: 'what the service does now, and how much it stores' }],
  [UPLOAD_PREVIEW, { name: 'UploadPreview', description: 'the kind and the first rows of files' }],
  [RUN_CONFIG_SCHEMA, { name: 'RunConfig' }],
  [STORED_CONFIG, { name: 'StoredRunConfig' }],
  [SELECT_SCHEMA, { name: 'ItemSelection' }],
  [PRICE_SCHEMA, { name: 'Price' }],
  [JUDGE_SCHEMA, { name: 'Judge' }],
  [SCORER_SCHEMA, { name: 'Scorer' }],
  [PROVIDER_SCHEMA, { name: 'Provider' }],
  [PROVIDER_SCHEMAS.openai_compatible, { name: 'OpenAICompatibleProvider' }],
  [PROVIDER_SCHEMAS.anthropic, { name: 'AnthropicProvider' }],
  [PROVIDER_SCHEMAS.item_field, { name: 'ItemFieldProvider' }],
  [PROVIDER_SCHEMAS.external, { name: 'ExternalProvider' }],
  [PROVIDER_SCHEMAS.echo, { name: 'EchoProvider' }],
  [CHECKER_SCHEMA, { name: 'Checker' }],
  [CHECKER_NAME_SCHEMA, { name: 'CheckerName' }],
  [CHECKER_OPTIONS_SCHEMA, { name: 'CheckerOptions' }],
  ...Array.from(CHECKER_SCHEMAS, ([type, schema]): [Schema, Named] => [
    schema,
    { name: `${type.replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())}Checker` },
  ]),
]);

/** Collects the schemas of a document under names, so that generated clients have types with names. */
export interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
  /** The schema for the document, or a reference to it; an object without a name gets this one. */
  add(schema: Schema, fallback: Named): Schema;
}

export function createComponents(): Components {
  const schemas: Record<string, Schema> = {};
  const firstNames = new Map<Schema, Named>();
  const refer = ({ name, description }: Named, schema: Schema): Schema => {
    schemas[name] ??= documented({ ...(description === undefined ? {} : { description }), ...schema });
    return { $ref: `#/components/schemas/${name}` };
  };
  const visit = (value: unknown): unknown => {
    const named = NAMED.get(value);
    return named === undefined ? documented(value) : refer(named, value as Schema);
  };
  function documented<T>(value: T): T;
  function documented(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).filter(([key]) => key !== 'x-rule');
    return Object.fromEntries(
      members.map(([key, member]) => {
        if (key === 'pattern' && typeof member === 'string') return [key, portablePattern(member)];
        if (key === 'discriminator') return [key, withMapping(member, (value as Union).oneOf)];
        return [key, visit(member)];
      }),
    );
  }
  /** Generators without it expect the names of the schemas as the values of the property. */
  const withMapping = (
    discriminator: { readonly propertyName: string },
    variants: Union['oneOf'],
  ): object => {
    const { propertyName } = discriminator;
    const mapping = variants.map((variant) => {
      const { $ref } = visit(variant) as { readonly $ref: string };
      return [variant.properties[propertyName]?.const, $ref];
    });
    return { ...discriminator, mapping: Object.fromEntries(mapping) };
  };
  return {
    schemas,
    add(schema, fallback) {
      if (!NAMED.has(schema) && schema['properties'] === undefined) return documented(schema);
      // One schema of two operations has one name.
      const named = NAMED.get(schema) ?? firstNames.get(schema) ?? fallback;
      firstNames.set(schema, named);
      return refer(named, schema);
    },
  };
}

/** A union whose variants state their kind as a constant. */
interface Union {
  readonly oneOf: readonly {
    readonly properties: Readonly<Record<string, { readonly const: string }>>;
  }[];
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
