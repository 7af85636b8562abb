import { type Command, Option } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { askSecret } from '../../output/ask.ts';
import { printHint } from '../../output/print-hint.ts';
import { jsonText, printResult } from '../../output/print-result.ts';
import { readCredentials, writeCredentials } from '../../service/credentials.ts';
import {
  API_URL_VARIABLE,
  checkSecret,
  openServiceWithKey,
  serviceUrl,
} from '../../service/service-options.ts';
import { formatFacts } from '../../text/format-facts.ts';
import { withExamples } from '../define-command.ts';

/** `login`: stores the key of a service for later commands. */
export function addLoginCommand(program: Command, cli: Cli): void {
  const command = program
    .command('login')
    .summary('store the key of a service')
    .description(
      'Reads a key from a hidden prompt or from standard input, checks it with the service and stores it in a file that ' +
        'only you can read. Later commands use that service and key unless options or variables name others.',
    )
    .addOption(
      new Option('--api-url <url>', `URL of the service (default: ${API_URL_VARIABLE}, else the last login)`),
    )
    .action(async (options: { apiUrl?: string }) => {
      const url = serviceUrl(cli, options);
      const key = checkSecret(await askSecret(cli, `Key of ${url}: `), 'The key');
      await openServiceWithKey(cli, url, key).send({
        method: 'GET',
        path: '/datasets',
        query: { limit: '1' },
      });
      const { keys } = readCredentials(cli);
      const path = await writeCredentials(cli, { default_url: url, keys: { ...keys, [url]: key } });
      await printResult(cli, {
        text: () =>
          formatFacts([
            ['service', url],
            ['key stored in', path],
          ]),
        json: () => jsonText({ url, path }),
      });
      await printHint(cli, 'Next: svc-pkg list');
    });
  withExamples(command, [
    'svc-pkg login --api-url https://datasets.example.org',
    'pass show datasets | svc-pkg login --api-url https://datasets.example.org',
  ]);
}
