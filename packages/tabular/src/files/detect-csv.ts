import { statedDelimiter } from '../csv/csv-scanner.ts';
import { type DetectedFile, type FormatHints, formatByName } from './file-format.ts';

const DELIMITERS = [',', '\t', ';', '|'];
const MAX_ROWS = 100;
/** So many of the rows must have as many fields as the first one; the others are errors, which reading reports. */
const MIN_SHARE = 0.75;

/**
 * How separated values are written; null if the text has none: its rows have different numbers of fields, or one field.
 * The name decides about a column alone, and about a text with commas: `.txt` is text, `.csv` and `.tsv` are not.
 */
export function detectCsv(
  text: string,
  { isWhole, path, hints }: { readonly isWhole: boolean; readonly path: string; readonly hints: FormatHints },
): Pick<DetectedFile, 'format' | 'options'> | null {
  const { format, header = true, quote = '"' } = hints;
  const named = formatByName(path);
  const build = (delimiter: string): Pick<DetectedFile, 'format' | 'options'> => ({
    format: format === 'csv' || format === 'tsv' ? format : delimiter === '\t' ? 'tsv' : 'csv',
    options: { delimiter, quote, header },
  });
  if (hints.delimiter !== undefined) return build(hints.delimiter);
  if (format === undefined && named === 'text') return null;
  const stated = statedDelimiter(/^[^\r\n]*/.exec(text)?.[0] ?? '');
  if (stated !== null) return build(stated);
  if (format === 'tsv') return build('\t');
  const isExpected = format === 'csv' || named === 'csv' || named === 'tsv';
  let best: { readonly delimiter: string; readonly fields: number } | null = null;
  for (const delimiter of DELIMITERS) {
    const counts = countFields(text, delimiter, quote, isWhole);
    const [fields = 1] = counts;
    const same = counts.filter((count) => count === fields).length;
    // A single line may be prose.
    const isEnough = isExpected || counts.length > 1;
    if (fields < 2 || !isEnough || same < counts.length * MIN_SHARE) continue;
    if (best === null || fields > best.fields) best = { delimiter, fields };
  }
  if (best !== null) return build(best.delimiter);
  if (!isExpected) return null;
  return build(named === 'tsv' && format === undefined ? '\t' : ',');
}

function countFields(text: string, delimiter: string, quote: string | null, isWhole: boolean): number[] {
  const counts: number[] = [];
  let fields = 1;
  let isQuoted = false;
  let isStart = true;
  let isBlank = true;
  for (let at = 0; at < text.length && counts.length < MAX_ROWS; at += 1) {
    const character = text[at] as string;
    if (isQuoted) {
      // A doubled quote ends the quotes and begins them again.
      if (character === quote) isQuoted = false;
    } else if (character === quote && (isStart || text[at - 1] === quote)) {
      isQuoted = true;
      isStart = false;
      isBlank = false;
    } else if (character === '\n' || character === '\r') {
      if (!isBlank) counts.push(fields);
      fields = 1;
      isStart = true;
      isBlank = true;
    } else {
      isBlank = false;
      isStart = character === delimiter;
      if (isStart) fields += 1;
    }
  }
  // The last row of a head may be cut.
  if (!isBlank && isWhole && counts.length < MAX_ROWS) counts.push(fields);
  return counts.length === 0 ? [fields] : counts;
}
