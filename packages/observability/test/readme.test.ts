import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('runs the example of the README', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const index = fileURLToPath(new URL('../src/index.ts', import.meta.url));
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const script = example.replace("'@svc/observability'", JSON.stringify(index));
  expect(script).not.toBe(example);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module-typescript',
    '-e',
    `${script}\nprocess.exit();`,
  ]);
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
    event: 'healthz.check',
    service: 'svc-api',
  });
  expect(stdout).toContain('svc_http_requests_total{method="GET",path="/healthz",status_code="200"} 1');
});
