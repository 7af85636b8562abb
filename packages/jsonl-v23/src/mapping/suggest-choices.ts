import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { readChoices } from './choices.ts';
import { COLUMN_NAMES, isRightName, isSeriesStem, isWrongName, plainName } from './column-names.ts';
import type { MappableFeature } from './compile-mapping.ts';
import type { Mapping, SuggestedPart } from './mapping.ts';

const LISTS = /^(?:(?:large_)?list<|struct<|map<|json$|string$|large_string$|string_view$)/;
const SCALAR = /^(?:string|large_string|string_view|u?int\d+|float\d*|double|bool)$/;

/** One column of all choices, or several of one each; not columns whose cells are no choices in the sample `rows`. */
export function suggestChoices(
  features: readonly MappableFeature[],
  rows: readonly JsonObject[],
): SuggestedPart | null {
  const named = COLUMN_NAMES.choices.flatMap((wanted) =>
    features.filter(({ name, dtype }) => plainName(name) === wanted && LISTS.test(dtype)),
  );
  const whole = named.find(({ name }) => rows.every((row) => isChoice(row[name] ?? null)));
  if (whole !== undefined) {
    const { name } = whole;
    const reason = `Column ${JSON.stringify(name)} has the name of choices.`;
    return choicesPart({ choicesColumn: name }, [name], { choices_column: reason });
  }
  const scalars = features.filter(({ dtype }) => SCALAR.test(dtype)).map(({ name }) => name);
  const series = countingUp(scalars);
  if (series.length > 0) {
    const reason = `Columns ${listed(series)} count up.`;
    return choicesPart({ choicesColumns: series }, series, { choices_columns: reason });
  }
  const right = scalars.find(isRightName);
  const wrong = scalars.filter(isWrongName);
  if (right === undefined || wrong.length === 0) return null;
  const columns = [right, ...wrong];
  const reason = `Columns ${listed(columns)} have the names of the right choice and of wrong ones.`;
  const part = choicesPart({ choicesColumns: columns }, columns, { choices_columns: reason });
  return {
    ...part,
    mapping: { ...part.mapping, answerColumn: right },
    reasons: {
      ...part.reasons,
      answer_column: `Column ${JSON.stringify(right)} has the name of the right choice.`,
    },
    warnings: [
      'The right choice is the first one of every item: a model that always picks the first is always right. Mix the columns of choices before you import them.',
    ],
  };
}

const choicesPart = (
  mapping: Mapping,
  columns: readonly string[],
  reasons: SuggestedPart['reasons'],
): SuggestedPart => ({
  mapping: { ...mapping, defaultType: 'multiple_choice' },
  columns,
  reasons: { ...reasons, default_type: 'The rows have choices.' },
  warnings: [],
});

const listed = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(', ');

const isChoice = (cell: JsonValue): boolean => cell === null || (readChoices(cell)?.length ?? 0) > 1;

/** Columns that count up: `A` to `D`, `option_1` to `option_4`, `opa` to `opd`; none with fewer than two. */
function countingUp(columns: readonly string[]): string[] {
  const byName = new Map(columns.map((name) => [plainName(name), name]));
  for (const start of byName.keys()) {
    const stem = start.slice(0, -1);
    if (!/[a10]$/.test(start) || !isSeriesStem(stem)) continue;
    // `0` comes before `1`.
    if (start.endsWith('1') && byName.has(`${stem}0`)) continue;
    const found: string[] = [];
    for (let code = start.charCodeAt(start.length - 1); ; code += 1) {
      const name = byName.get(stem + String.fromCharCode(code));
      if (name === undefined) break;
      found.push(name);
    }
    // Two columns of one letter may be anything.
    if (found.length >= (stem === '' ? 3 : 2)) return found;
  }
  return [];
}
