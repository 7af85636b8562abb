import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli } from '../../cli-context.ts';
import { printResult } from '../../output/print.ts';
import { openService, type ServiceOptions } from '../../service/open-service.ts';
import { readSession } from '../../service/session.ts';
import { formatFacts } from '../../text/format.ts';
import { withExamples, withServiceOptions } from '../define-command.ts';

/** `whoami`: the service that commands use, and the role of the key. */
export function addWhoamiCommand(program: Command, cli: Cli): void {
  const command = program
    .command('whoami')
    .summary('show the service that commands use, and your role')
    .description('Shows the address of the service that other commands use, and the role of your key there.')
    .action(async (options: ServiceOptions) => {
      const service = openService(cli, options);
      const { role, anonymous } = await readSession(service);
      await printResult(cli, {
        text: () =>
          formatFacts([
            ['service', service.url],
            ['role', anonymous ? `${role}, as everybody: the service asks for no keys` : role],
          ]),
        json: () => jsonText({ url: service.url, role, anonymous }),
      });
    });
  withServiceOptions(command);
  withExamples(command, ['svc-pkg whoami --json', 'svc-pkg whoami --api-url https://datasets.example.org']);
}
