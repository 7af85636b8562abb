import { spawn } from 'node:child_process';
import { type PageQuery, REQUEST_VALUES, type ResponseOf } from '@svc/client';
import { jsonText } from '@svc/jsonl-v23/json';
import type { Cli } from '../cli-context.ts';
import { CliError, ServiceError, usageError } from '../errors/cli-error.ts';
import { askSecret } from '../output/ask.ts';
import { factsResult, printHint, printListing, printReport, printResult } from '../output/print.ts';
import { checkSecret, readCredentials, serviceUrl, writeCredentials } from '../service/open-service.ts';
import { findVersion, readDataset, VERSION_ARGUMENT } from '../service/references.ts';
import { createServiceClient, type ServiceClient } from '../service/service-client.ts';
import { apiUrl, choice, flag, limit, operation, text } from './define-operation.ts';

export const login = operation({
  summary: 'store the key of a service',
  description:
    'Reads a key from a hidden prompt or from standard input, checks it with the service and stores it in a file that ' +
    'only you can read. Later commands use that service and key unless options or variables name others. A service ' +
    'without keys is stored without one.',
  options: { apiUrl: apiUrl() },
  service: false,
  examples: [
    'svc-pkg login --api-url https://datasets.example.org',
    'pass show datasets | svc-pkg login --api-url https://datasets.example.org',
  ],
  async run(options, cli) {
    const url = serviceUrl(cli, options);
    const { keys } = readCredentials(cli);
    const found = (await isOpen(cli, url)) ? null : await askKey(cli, url);
    const known = found === null ? keys : { ...keys, [url]: found.key };
    const path = await writeCredentials(cli, { default_url: url, keys: known });
    const role = found?.role ?? null;
    const facts = [
      ['service', url],
      ['role', role],
      [
        found === null ? 'key' : 'key stored in',
        found === null ? 'none: the service asks for no keys' : path,
      ],
    ] as const;
    await printReport(cli, factsResult(facts, { url, path, role }));
    if (found !== null) await printHint(cli, 'Next: svc-pkg list');
  },
});

async function askKey(cli: Cli, url: string): Promise<{ readonly key: string; readonly role: string }> {
  const key = checkSecret(await askSecret(cli, `Key of ${url}: `), 'The key');
  const { role } = await readSession(createServiceClient(cli, url, key));
  return { key, role };
}

async function isOpen(cli: Cli, url: string): Promise<boolean> {
  try {
    return (await readSession(createServiceClient(cli, url, undefined))).anonymous;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'unauthenticated') return false;
    throw error;
  }
}

async function readSession(service: ServiceClient): Promise<ResponseOf<'/session', 'get'>> {
  const { value } = await service.read(service.api.GET('/session'));
  if (typeof value?.role === 'string') return value;
  throw new CliError('bad_response', `${service.url}/session returned no role`);
}

export const logout = operation({
  summary: 'delete the stored key of a service',
  description:
    'Deletes the key that login stored. The key itself stays valid: its service knows nothing of this.',
  options: { apiUrl: apiUrl() },
  service: false,
  examples: ['svc-pkg logout', 'svc-pkg logout --api-url https://datasets.example.org'],
  async run(options, cli) {
    const url = serviceUrl(cli, options);
    const { default_url, keys } = readCredentials(cli);
    const { [url]: key, ...others } = keys;
    await writeCredentials(cli, {
      ...(default_url !== undefined && default_url !== url && { default_url }),
      keys: others,
    });
    const deleted = key !== undefined;
    const facts = [
      ['service', url],
      ['key', deleted ? 'deleted' : 'none was stored'],
    ] as const;
    await printReport(cli, factsResult(facts, { url, deleted }));
  },
});

export const whoami = operation({
  summary: 'show the service that commands use, and your role',
  description: 'Shows the address of the service that other commands use, and the role of your key there.',
  examples: ['svc-pkg whoami --json', 'svc-pkg whoami --api-url https://datasets.example.org'],
  async run(_, cli, open) {
    const service = await open();
    const { url } = service;
    const { role, anonymous } = await readSession(service);
    const facts = [
      ['service', url],
      ['role', anonymous ? `${role}, as everybody: the service asks for no keys` : role],
    ] as const;
    await printResult(cli, factsResult(facts, { url, role, anonymous }));
  },
});

export const jobs = operation({
  summary: 'list the background jobs of a service',
  description: 'Lists imports and uploads that run or ran in the background, newest first.',
  options: {
    status: choice('--status <status>', 'only jobs with this status', REQUEST_VALUES['/jobs'].status),
    kind: choice('--kind <kind>', 'only jobs of this kind', REQUEST_VALUES['/jobs'].kind),
    limit: limit(),
  },
  examples: ['svc-pkg jobs --status running'],
  async run({ limit, ...filters }, cli, open) {
    const { api } = await open();
    const read = (page: PageQuery) => api.GET('/jobs', { params: { query: { ...filters, ...page } } });
    await printListing(cli, limit, read, {
      id: ({ id }) => id,
      kind: (job) => job.kind,
      status: (job) => job.status,
      rows: ({ progress }) => progress?.rows_done,
      dataset: (job) => job.dataset_id,
      created: (job) => job.created_at,
    });
  },
});

export const openConsole = operation({
  summary: 'open the console of a service in a browser',
  description: 'Opens the console at its list of datasets, at a dataset or at a run, and prints its address.',
  arguments: { dataset: ['[dataset]', VERSION_ARGUMENT] },
  options: {
    run: text('--run <id>', 'open this run'),
    print: flag('--print', 'only print the address'),
    python: flag('--python', 'print the three lines that read the dataset in Python, and open nothing'),
  },
  examples: ['svc-pkg open', 'svc-pkg open GSM8K', 'svc-pkg open --print', 'svc-pkg open GSM8K --python'],
  async run({ dataset, run, print, python }, cli, open) {
    const service = await open();
    if (python) {
      if (dataset === undefined) throw usageError('--python needs a dataset.');
      const lines = await pythonLines(service, dataset);
      return await printResult(cli, { text: () => `${lines.join('\n')}\n`, json: () => jsonText({ lines }) });
    }
    const address = `${service.url}/console${await pathOf(service, dataset, run)}`;
    await printResult(cli, { text: () => `${address}\n`, json: () => jsonText({ url: address }) });
    if (!print && !cli.json) openBrowser(cli, address);
  },
});

async function pathOf(
  service: ServiceClient,
  dataset: string | undefined,
  run: string | undefined,
): Promise<string> {
  if (run !== undefined) return `/runs/${encodeURIComponent(run)}`;
  if (dataset === undefined) return '/datasets';
  const { id, version } = await findVersion(service, dataset);
  return `/datasets/${id}${version === undefined ? '' : `?version=${version}`}`;
}

/** The program that loads a version of a dataset: the library reads the variable when it is imported. */
async function pythonLines(service: ServiceClient, dataset: string): Promise<readonly string[]> {
  const version = await findVersion(service, dataset);
  const { value } = await readDataset(service, version);
  const [repo, revision] = [value.handle ?? version.id, value.version_hash.slice(0, 40)];
  return [
    `import os; os.environ["HF_ENDPOINT"] = ${JSON.stringify(service.url)}`,
    'from datasets import load_dataset',
    `dataset = load_dataset(${JSON.stringify(`svc/${repo}`)}, revision="${revision}")`,
  ];
}

function openBrowser(cli: Cli, address: string): void {
  const [program, ...args] =
    {
      darwin: ['open'] as const,
      win32: ['rundll32', 'url.dll,FileProtocolHandler'] as const,
    }[cli.platform as string] ?? (['xdg-open'] as const);
  const child = spawn(program, [...args, address], { detached: true, stdio: 'ignore' });
  // The address is printed; without a browser that is enough.
  child.on('error', () => undefined);
  child.unref();
}
