import { jsonText } from '@svc/jsonl-v23/internal';
import type { Command } from 'commander';
import type { Cli, DatabasePort } from '../cli-context.ts';
import { databaseUrl } from '../database-url.ts';
import { printReport } from '../output/print.ts';
import { formatFacts } from '../text/format.ts';
import { withExamples } from './define-command.ts';

/** `migrate`: migrates a database to this version. */
export function addMigrateCommand(program: Command, cli: Cli, database: DatabasePort): void {
  const command = program
    .command('migrate')
    .summary('migrate a database to this version')
    .description(
      'Applies the missing migrations. Several processes can run it concurrently, and you can stop it at any time.',
    )
    .option('--database-url <url>', 'postgresql:// URL (default: the environment variable DATABASE_URL)')
    .option(
      '--distributed',
      'spread the large tables over the nodes of Citus; the database is that of the coordinator',
    )
    .action(async (options: { databaseUrl?: string; distributed?: true }) => {
      const outcome = await database.migrate(databaseUrl(cli, options.databaseUrl), {
        distributed: options.distributed === true,
      });
      await printReport(cli, { text: () => migrationText(outcome), json: () => jsonText(outcome) });
    });
  withExamples(command, [
    'DATABASE_URL=postgresql://svc@db.example.org/svc svc-pkg migrate',
    'svc-pkg migrate --database-url postgresql://localhost/svc',
    'svc-pkg migrate --distributed --database-url postgresql://coordinator.example.org/svc',
  ]);
}

function migrationText({ applied, distributed }: Awaited<ReturnType<DatabasePort['migrate']>>): string {
  const facts: [string, string][] = [
    ...applied.map((name): [string, string] => ['applied', name]),
    ...distributed.map((name): [string, string] => ['distributed', name]),
  ];
  return facts.length === 0 ? 'The database is up to date.\n' : formatFacts(facts);
}
