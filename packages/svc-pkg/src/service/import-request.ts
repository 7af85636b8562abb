/** The options of `import-hub`. */
export interface ImportHubOptions {
  readonly name: string;
  readonly description?: string;
  readonly split?: string;
  readonly subset?: string;
  readonly revision?: string;
  readonly promptColumn: string;
  readonly answerColumn?: string;
  readonly defaultType?: string;
  readonly metaColumns?: readonly string[];
  readonly criteriaColumns?: readonly string[];
  readonly choicesColumn?: string;
  readonly assetsColumn?: string;
  readonly systemPromptColumn?: string;
  readonly idColumn?: string;
}

/** The body of `POST /datasets/hub/import`, with only the options that were given. */
export function importRequest(path: string, options: ImportHubOptions, token: string | undefined): string {
  return JSON.stringify({
    name: options.name,
    description: options.description,
    config: {
      path,
      split: options.split,
      subset: options.subset,
      revision: options.revision,
      token,
    },
    mapping: {
      prompt_column: options.promptColumn,
      answer_column: options.answerColumn,
      default_type: options.defaultType,
      meta_columns: options.metaColumns && columnsByKey(options.metaColumns),
      criteria_columns: options.criteriaColumns,
      choices_column: options.choicesColumn,
      assets_column: options.assetsColumn,
      system_prompt_column: options.systemPromptColumn,
      id_column: options.idColumn,
    },
  });
}

/** `key=column` and `column` as an object from keys to columns. */
function columnsByKey(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return at === -1 ? [entry, entry] : [entry.slice(0, at), entry.slice(at + 1)];
    }),
  );
}
