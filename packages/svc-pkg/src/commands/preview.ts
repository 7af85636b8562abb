import { stat } from 'node:fs/promises';
import type { BodyOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/internal';
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import type { Command } from 'commander';
import { type Cli, given } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { openFiles } from '../local/open-files.ts';
import { previewLocalFiles } from '../local/preview-file.ts';
import { mappingOf } from '../mapping/mapping-options.ts';
import { hintsOf, type TableOptions, withTableOptions } from '../mapping/table-options.ts';
import { printResult } from '../output/print.ts';
import { openService, type ServiceOptions, secretFrom } from '../service/open-service.ts';
import { previewText } from '../service/preview-response.ts';
import { countOption, withExamples, withHubOptions, withServiceOptions } from './define-command.ts';

type Options = ServiceOptions &
  TableOptions & {
    readonly split?: string;
    readonly subset?: string;
    readonly revision?: string;
    readonly limit: number;
    readonly hubTokenEnv?: string;
  };

type HubPreviewRequest = BodyOf<'/datasets/hub/preview'>;

/** `preview`: shows columns and first rows of a file, or of a hub dataset; stores nothing. */
export function addPreviewCommand(program: Command, cli: Cli): void {
  const command = program
    .command('preview')
    .summary('show columns and first rows of a file or a hub dataset')
    .description(
      'Reads the beginning of a file with a table, or makes a service read that of a hub dataset, and suggests options ' +
        'for pack, upload and import-hub. Stores nothing.',
    )
    .argument('<path>', 'a file, - for standard input, else a dataset on the hub as <owner>/<dataset>')
    .addOption(countOption('--limit <count>', 'how many rows to show', 1, 100, 3))
    .optionsGroup('Rows:');
  withTableOptions(withHubOptions(command)).action(async (path: string, options: Options) => {
    const isFile = await stat(path).then(
      (found) => found.isFile() || found.isFIFO(),
      () => false,
    );
    if (isFile || path === '-') return await previewLocally(cli, path, options);
    const { split, subset, revision, limit } = options;
    const token = secretFrom(cli, options.hubTokenEnv, undefined, '--hub-token-env');
    const service = openService(cli, options);
    const mapping = (await mappingOf(options))?.wire as HubPreviewRequest['mapping'];
    const body = { path, limit, ...given({ split, subset, revision, token, mapping }) };
    const { text } = await service.read(
      service.api.POST('/datasets/hub/preview', { body, bodySerializer: canonicalJson }),
    );
    await printResult(cli, { json: () => text, text: () => previewText(path, parsePreview(text)) });
  });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg preview questions.csv',
    'svc-pkg preview openai/gsm8k --subset main',
    'svc-pkg preview openai/gsm8k --split "train[10%:20%]" --limit 10 --json',
  ]);
}

async function previewLocally(cli: Cli, path: string, options: Options): Promise<void> {
  const mapping = await mappingOf(options);
  await using opened = await openFiles(cli, [path], { hints: hintsOf(options), isMapped: mapping !== null });
  const preview = await previewLocalFiles(opened, mapping, options.limit, cli.signal);
  await printResult(cli, { json: () => jsonText(preview), text: () => previewText(path, preview) });
}

/** Keeps all digits of the rows' numbers. */
function parsePreview(text: string): JsonObject {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new CliError('bad_response', 'The preview that the service returned is not a JSON object');
}
