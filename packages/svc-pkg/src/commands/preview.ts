import { isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import type { Command } from 'commander';
import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { printResult } from '../output/print-result.ts';
import { previewText } from '../service/preview-response.ts';
import { openService, type ServiceOptions, secretFrom } from '../service/service-options.ts';
import { countOption, withExamples, withHubOptions, withServiceOptions } from './define-command.ts';

interface Options extends ServiceOptions {
  readonly split?: string;
  readonly subset?: string;
  readonly revision?: string;
  readonly limit: number;
  readonly hubTokenEnv?: string;
}

/** `preview`: shows columns and first rows of a hub dataset; stores nothing. */
export function addPreviewCommand(program: Command, cli: Cli): void {
  const command = program
    .command('preview')
    .summary('show columns and first rows of a hub dataset')
    .description('Makes a service read the beginning of a hub dataset; stores nothing.')
    .argument('<path>', 'the dataset on the hub, as <owner>/<dataset>')
    .addOption(countOption('--limit <count>', 'how many rows to show', 1, 100, 3))
    .optionsGroup('Rows:');
  withHubOptions(command).action(async (path: string, options: Options) => {
    const { split, subset, revision, limit } = options;
    const token = secretFrom(cli, options.hubTokenEnv, undefined, '--hub-token-env');
    const { text } = await openService(cli, options).sendForJson({
      method: 'POST',
      path: '/datasets/hub/preview',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path, split, subset, revision, limit, token }),
    });
    await printResult(cli, { json: () => text, text: () => previewText(path, parsePreview(text)) });
  });
  withServiceOptions(command);
  withExamples(command, [
    'svc-pkg preview openai/gsm8k --subset main',
    'svc-pkg preview openai/gsm8k --split "train[10%:20%]" --limit 10 --json',
  ]);
}

/** Keeps all digits of the rows' numbers. */
function parsePreview(text: string): JsonObject {
  const value = parseJson(text);
  if (isJsonObject(value)) return value;
  throw new CliError('bad_response', 'The preview that the service returned is not a JSON object');
}
