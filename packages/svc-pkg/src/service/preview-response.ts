import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { formatFacts, noteFacts, printableValue } from '../text/format.ts';
import { sampleText } from '../text/sample-text.ts';

/** Text for people lists this many splits and columns, and counts the rest. */
const MAX_SPLITS = 20;
const MAX_COLUMNS = 100;
const MAX_WARNINGS = 10;

/** A preview for people: the split, its columns, a suggested mapping, warnings, and the first rows. */
export function previewText(path: string, preview: JsonObject): string {
  const text = (key: string): string | null => textOf(getMember(preview, key));
  const features = objectsOf(getMember(preview, 'features'));
  const samples = listOf(getMember(preview, 'samples'));
  const mapping = getMember(preview, 'suggested_mapping');
  const facts = formatFacts([
    ['dataset', path],
    ['subset', text('subset')],
    ['split', text('split')],
    ['revision', text('resolved_revision')],
    ['rows', text('num_rows')],
    ['splits', splitsText(objectsOf(getMember(preview, 'splits')))],
    ['suggested', isJsonObject(mapping) ? mappingOptions(mapping) : null],
    ...noteFacts({ warnings: warningsOf(preview), ...skippedOf(preview) }),
  ]);
  const more = features.length - MAX_COLUMNS;
  const columns = features.slice(0, MAX_COLUMNS).map((feature) => {
    const name = textOf(getMember(feature, 'name')) ?? '';
    return [`  ${printableValue(name)}`, printableValue(textOf(getMember(feature, 'dtype')) ?? '')] as const;
  });
  return [
    facts,
    '\ncolumns\n',
    formatFacts(columns),
    ...(more > 0 ? [`  ... and ${more} more\n`] : []),
    ...(samples.length > 0 ? ['\nfirst rows\n'] : []),
    ...samples.map((row, index) => `  ${index}\n${sampleText(row, '    ')}`),
  ].join('');
}

function warningsOf(preview: JsonObject): readonly string[] {
  const info = getMember(preview, 'info');
  const warnings = listOf(isJsonObject(info) ? getMember(info, 'warnings') : undefined);
  return warnings.filter((warning) => typeof warning === 'string').slice(0, MAX_WARNINGS);
}

function skippedOf(preview: JsonObject): Parameters<typeof noteFacts>[0] {
  const files = objectsOf(getMember(preview, 'skipped_files')).map((file) => ({
    name: textOf(getMember(file, 'name')) ?? '',
    reason: textOf(getMember(file, 'reason')) ?? '',
  }));
  const total = getMember(preview, 'skipped_files_total') ?? files.length;
  return { skipped_files: files, skipped_files_total: Number(total) };
}

function splitsText(splits: readonly JsonObject[]): string {
  const shown = splits.slice(0, MAX_SPLITS).map((split) => {
    const [subset, name, rows] = ['subset', 'split', 'num_rows'].map((key) => textOf(getMember(split, key)));
    return `${subset === null ? '' : `${subset}/`}${name}${rows === null ? '' : ` (${rows})`}`;
  });
  const more = splits.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/**
 * A mapping as the options of `import-hub`, ready for a shell.
 *
 * @example mappingOptions({ prompt_column: 'the question' }) // "--prompt-column 'the question'"
 */
function mappingOptions(mapping: JsonObject): string {
  return Object.entries(mapping)
    .flatMap(([key, value]) => {
      const values = optionValues(value).filter((entry) => typeof entry === 'string');
      return values.length === 0 ? [] : [`--${key.replaceAll('_', '-')}`, ...values.map(shellWord)];
    })
    .join(' ');
}

/** An object from keys to columns becomes `key=column`, or `column` if both are equal. */
function optionValues(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  if (!isJsonObject(value)) return [value];
  return Object.entries(value).map(([key, column]) =>
    key === column && !key.includes('=') ? key : `${key}=${column}`,
  );
}

/** Quotes a word for POSIX shells if necessary. */
function shellWord(word: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

const objectsOf = (value: JsonValue | undefined): JsonObject[] => listOf(value).filter(isJsonObject);

const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;
