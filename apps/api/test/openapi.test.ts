import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { REQUEST_EXAMPLES, RESPONSE_EXAMPLES } from '../src/routes/docs/openapi.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

interface Operation {
  readonly operationId: string;
  readonly 'x-access': string;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly servers: readonly object[];
  readonly components: { readonly schemas: Readonly<Record<string, { readonly description?: string }>> };
}

let api: TestApi;
let hub: FakeHub;
let document: OpenApi;
beforeAll(async () => {
  hub = await startFakeHub();
  api = await startTestApi({ HUB_ENDPOINT: hub.endpoint });
  document = (await (await fetch(`${api.url}/openapi.json`)).json()) as OpenApi;
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await hub.close();
});

/** All values of a key, at any depth. */
function valuesOf(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(name === key ? [member] : []),
    ...valuesOf(member, key),
  ]);
}

it('asks for more than the role of a viewer where something is changed, deleted, or asked of others', () => {
  const needing = (role: string): string[] =>
    Object.values(document.paths)
      .flatMap((operations) => Object.values(operations))
      .filter(({ 'x-access': access }) => access === role)
      .map(({ operationId }) => operationId)
      .sort();
  const admin = ['deleteDataset', 'deleteVersion', 'downloadAuditCsv', 'downloadAuditJsonl', 'listAudit'];
  expect(needing('admin')).toEqual([...admin, 'updateSettings']);
  expect(needing('editor')).toEqual([
    'cancelJob',
    'cancelRun',
    'changeItems',
    'checkChange',
    'checkEdit',
    'checkHubImport',
    'checkUpload',
    'claimPendingResults',
    'createRun',
    'deleteRun',
    'editItems',
    'findHubDatasets',
    'finishRun',
    'importHubDataset',
    'labelResult',
    'listProviders',
    'planRun',
    'previewHubDataset',
    'previewUpload',
    'pushResults',
    'pushScores',
    'rescoreRun',
    'restoreVersion',
    'retryRun',
    'tryRun',
    'updateDataset',
    'updateRun',
    'uploadDataset',
  ]);
});

it('names its schemas, and refers only to those that there are', () => {
  const { schemas } = document.components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining([
      'Dataset',
      'DatasetSummary',
      'Job',
      'Run',
      'RunResult',
      'HubPreview',
      'DryRun',
      'RunConfig',
      'Problem',
      'CreateRunRequest',
    ]),
  );
  const targetOf = (reference: unknown): unknown =>
    String(reference)
      .split('/')
      .slice(1)
      // biome-ignore lint/suspicious/noExplicitAny: the document has every shape
      .reduce((value: any, key) => value?.[key], document);
  expect(valuesOf(document, '$ref').filter((reference) => targetOf(reference) === undefined)).toEqual([]);
});

it('describes each schema, and names the variants of each union and what tells them apart', () => {
  const { schemas } = document.components;
  const undescribed = Object.keys(schemas).filter((name) => !schemas[name]?.description);
  expect(undescribed, 'add a description to NAMED in src/routes/docs/openapi.ts').toEqual([]);
  const variants = valuesOf(document, 'oneOf').flat() as { readonly $ref?: string }[];
  expect(variants.length).toBeGreaterThan(8);
  const unnamed = variants.filter(({ $ref }) => $ref === undefined);
  expect(unnamed, 'add a name to NAMED in src/routes/docs/openapi.ts').toEqual([]);
  expect(schemas['Provider']).toMatchObject({
    discriminator: {
      propertyName: 'type',
      mapping: {
        echo: '#/components/schemas/EchoProvider',
        openai_compatible: '#/components/schemas/OpenAICompatibleProvider',
      },
    },
  });
  expect(schemas['CheckerOptions']).toMatchObject({
    discriminator: { mapping: { regex: '#/components/schemas/RegexChecker' } },
  });
});

it('says where the service is, and how each operation fails', () => {
  expect(document.servers).toMatchObject([{ url: '/' }]);
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
    expect(operation).toMatchObject({
      responses: {
        '4XX': { $ref: '#/components/responses/Refused' },
        default: { $ref: '#/components/responses/Failed' },
      },
    });
});

it('has dry runs as operations with one kind of result', async () => {
  const statusesOf = (path: string): string[] =>
    Object.keys((document.paths[path]?.['post'] as { responses?: object } | undefined)?.responses ?? {});
  expect(statusesOf('/runs')).toEqual(['202', '4XX', 'default']);
  for (const path of ['/runs/plan', '/datasets/upload/check', '/datasets/hub/check'])
    expect(statusesOf(path)).toEqual(['200', '4XX', 'default']);
  const post = async (path: string): Promise<unknown> => {
    const body = new FormData();
    body.set('file', new Blob(['{"inputs":{"prompt":"1+1?"}}\n']), 'items.jsonl');
    const response = await fetch(`${api.url}${path}`, { method: 'POST', body });
    return [response.status, await response.json()];
  };
  const checked = await post('/datasets/upload/check');
  expect(checked).toMatchObject([200, { item_count: 1, errors: [], errors_total: 0 }]);
  expect(await post('/datasets/upload?dry_run=true')).toEqual(checked);
  const { meta } = (await (await fetch(`${api.url}/datasets`)).json()) as { meta: { total_items: number } };
  expect(meta.total_items).toBe(0);
});

it('says in words what a value of a wrong form must be', async () => {
  expect(valuesOf(document, 'x-rule')).toEqual([]);
  const detail = async (path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
    const problem = (await (await fetch(`${api.url}${path}`, init)).json()) as { readonly detail: string };
    return problem.detail;
  };
  const results = `/runs/${randomUUID()}/results`;
  expect(await detail(`${results}?item_hash=x`)).toContain('must be 64 hexadecimal digits in lower case');
  expect(await detail(`${results}?limit=0`)).toContain('limit must be at least 1');
  expect(
    await detail('/runs', { dataset_id: randomUUID(), name: ' ', config: { provider: 'echo' } }),
  ).toContain('must not be blank');
});

it('has patterns that Rust, Go and Python accept', () => {
  const patterns = [...new Set(valuesOf(document, 'pattern').filter((one) => typeof one === 'string'))];
  expect(patterns.length).toBeGreaterThan(4);
  for (const pattern of patterns) {
    expect(pattern).not.toMatch(/\(\?[=!<]|\\[1-9]|\\p\{/);
    expect(() => new RegExp(pattern, 'u')).not.toThrow();
  }
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
  } catch {
    return;
  }
  const program = 'import json, re, sys\nfor pattern in json.load(sys.stdin): re.compile(pattern)';
  execFileSync('python3', ['-c', program], { input: JSON.stringify(patterns) });
});

it('has examples of requests that the service accepts', async () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({ path, method, operationId })),
  );
  for (const name of Object.keys({ ...REQUEST_EXAMPLES, ...RESPONSE_EXAMPLES }))
    expect(operations.map(({ operationId }) => operationId)).toContain(name);
  for (const { path, method, operationId } of operations) {
    const example = REQUEST_EXAMPLES[operationId];
    if (example === undefined) continue;
    const id = '7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d';
    const response = await fetch(`${api.url}${path.replace('{id}', id)}`, {
      method: method.toUpperCase(),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(example),
    });
    const { code } = (await response.json()) as { code?: string };
    // The dataset exists neither here nor on the hub; the body has passed.
    expect(['invalid_request', 'invalid_json', 'not_found'], `${operationId}: ${code}`).not.toContain(code);
  }
});
