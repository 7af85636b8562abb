import { readdirSync } from 'node:fs';
import { it } from 'vitest';
import { startTestService } from '../../../apps/worker/test/start-test-service.ts';
import { svcPkg } from './run-svc-pkg.ts';

it('once', async () => {
  await using service = await startTestService({});
  const folder = '/work/main/conformance/formats/lm-eval/';
  const files = readdirSync(folder).map((name) => folder + name);
  const env = { SVC_API_URL: service.url };
  for (const more of [['--json'], ['--json']]) {
    const out = await svcPkg(['upload', ...files, ...more], { env, isTerminal: false });
    console.log(out.stdout.slice(-400));
  }
});
