import { jsonText } from '@svc/jsonl-v23/json';
import type { Cli, DatabasePort } from '../cli-context.ts';
import { usageError } from '../errors/cli-error.ts';
import { printReport } from '../output/print.ts';
import { formatFacts } from '../text/format.ts';
import { flag, operation, text } from './define-operation.ts';

export const migrate = operation({
  summary: 'migrate a database to this version',
  description:
    'Applies the missing migrations. Several processes can run it concurrently, and you can stop it at any time.',
  options: {
    url: text('--database-url <url>', 'postgresql:// URL (default: the environment variable DATABASE_URL)'),
    distributed: flag(
      '--distributed',
      'spread the large tables over the nodes of Citus; the database is that of the coordinator',
    ),
  },
  service: false,
  examples: [
    'DATABASE_URL=postgresql://svc@db.example.org/svc svc-admin migrate',
    'svc-admin migrate --database-url postgresql://localhost/svc',
    'svc-admin migrate --distributed --database-url postgresql://coordinator.example.org/svc',
  ],
  async run({ url, distributed = false }, cli) {
    const outcome = await cli.database?.migrate(databaseUrl(cli, url), { distributed });
    if (outcome === undefined) return;
    await printReport(cli, { text: () => migrationText(outcome), json: () => jsonText(outcome) });
  },
});

function migrationText({ applied, distributed }: Awaited<ReturnType<DatabasePort['migrate']>>): string {
  const facts: [string, string][] = [
    ...applied.map((name): [string, string] => ['applied', name]),
    ...distributed.map((name): [string, string] => ['distributed', name]),
  ];
  return facts.length === 0 ? 'The database is up to date.\n' : formatFacts(facts);
}

const VARIABLE = 'DATABASE_URL';

/** @throws CliError `usage`; the message does not repeat the URL, which may contain a password */
export function databaseUrl(cli: Cli, option: string | undefined): string {
  const url = option ?? cli.env[VARIABLE] ?? '';
  const source = option === undefined ? VARIABLE : '--database-url';
  if (url === '') throw usageError(`Name a database with --database-url or the variable ${VARIABLE}`);
  if (!/^postgres(ql)?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw usageError(`${source} must be a postgresql:// URL`);
  }
  return url;
}
