import { expect, it } from 'vitest';
import { EXIT_CODES } from '../src/errors/cli-error.ts';
import { createProgram } from '../src/program.ts';
import { svcPkg } from './run-svc-pkg.ts';

const PROGRAM = await createProgram({ version: '1', columns: 100, database: {} } as never, {
  out: () => {},
  err: () => {},
});
const COMMANDS = PROGRAM.commands.map((command) => command.name());

it('prints its version', async () => {
  expect(await svcPkg(['--version'])).toMatchObject({ exitCode: 0, stdout: '9.9.9\n', stderr: '' });
});

it('lists every command and every exit code in its help', async () => {
  const { exitCode, stdout, stderr } = await svcPkg(['--help']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
  for (const { code, meaning } of EXIT_CODES) {
    expect(stdout).toContain(`\n  ${String(code).padEnd(3)}  ${meaning}\n`);
  }
});

it.each(COMMANDS)('explains %s with examples and --json', async (command) => {
  const { exitCode, stdout, stderr } = await svcPkg([command, '--help']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain(`Usage: svc-pkg ${command}`);
  expect(stdout).toMatch(new RegExp(`^  \\$ (?:\\S+=\\S+ )?svc-(?:pkg|admin) ${command}`, 'm'));
  expect(stdout).toContain('--json');
  const [listed, examples = ''] = stdout.split('\nExamples:\n');
  for (const [flag] of examples.matchAll(/(?<= )--[a-z-]+/g))
    expect(listed).toMatch(new RegExp(`^  (?:-\\w, )?${flag}(?= |$)`, 'm'));
});

it('prints its help without a command', async () => {
  const { exitCode, stdout, stderr } = await svcPkg([]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: svc-pkg/);
});

it.each([
  ['\u{1f600}'.repeat(255), 1],
  ['\u{1f600}'.repeat(256), 2],
  [' ', 2],
  ['a\u0007', 2],
])('checks the name %j as the service does', async (name, exitCode) => {
  const outcome = await svcPkg(['rename', 'a', name, '--api-url', 'http://127.0.0.1:1']);
  expect(outcome).toMatchObject({ exitCode });
});

const WRONG: readonly [string, string[], RegExp][] = [
  [
    'an unknown command',
    ['frobnicate'],
    /^svc-pkg: Unknown command 'frobnicate' \(usage\)\nSee svc-pkg --help\n$/,
  ],
  ['a nearly right command', ['chek'], /Did you mean check\?/],
  [
    'an unknown option',
    ['check', '--nope', 'a'],
    /^svc-pkg: Unknown option '--nope' \(usage\)\nSee svc-pkg check --help\n$/,
  ],
  ['a missing argument', ['hash'], /Missing required argument 'packages'/],
  ['too many arguments', ['show', 'a', 'b'], /Too many arguments/],
  ...['convert', 'pack', 'check', 'hash', 'seal', 'upload'].map((command): [string, string[], RegExp] => [
    `standard input twice, of ${command}`,
    [command, '-', 'a.zip', '-'],
    /^svc-pkg: Standard input \(-\) must be given at most once, got 2 times \(usage\)\n/,
  ]),
  ['a missing option value', ['upload', 'a', '--name'], /argument missing/],
  ['an empty handle', ['upload', 'a', '--handle', ''], /--handle <handle>.* It must not be empty/],
  ['an empty handle of an import', ['import-hub', 'a/b', '--name', 'n', '--handle', ''], /must not be empty/],
  ['an empty name', ['upload', 'a', '--name', ''], /--name must have 1 to 255 characters/],
  [
    'an unknown order of results',
    ['results', 'list', 'a', '--sort', 'x'],
    /It must be order, score, .*\nSee svc-pkg results list --help\n$/,
  ],
  [
    'a command within a command without its argument',
    ['results', 'list'],
    /Missing required argument 'run' \(usage\)\nSee svc-pkg results list --help\n$/,
  ],
  ['an argument that is the name of a command', ['show', 'list', 'b'], /\nSee svc-pkg show --help\n$/],
  ['a missing option', ['import-hub', 'a/b'], /'--name <name>' not specified/],
  ['an invalid count', ['inspect', 'a', '--samples', '1e2'], /It must be a whole number from 0 to 100/],
  [
    'a count beyond its range',
    ['preview', 'a/b', '--limit', '101'],
    /It must be a whole number from 1 to 100/,
  ],
  [
    'an invalid URL',
    ['export', 'x', '--api-url', 'localhost:8080'],
    /--api-url must be an http or https URL/,
  ],
  ['a URL with a password', ['export', 'x', '--api-url', 'http://a:b@localhost/'], /without user/],
  [
    'a key variable that is not set',
    ['upload', 'a', '--api-key-env', 'MY_KEY'],
    /"MY_KEY", which is not set/,
  ],
  ['two sources of an export', ['export', 'x', '--database', '--api-url', 'http://h'], /cannot be used with/],
  ['help for an unknown command', ['help', 'nope'], /^svc-pkg: Unknown command 'nope' \(usage\)/],
  ['a missing database', ['export', 'x', '--database'], /DATABASE_URL/],
  [
    'a database of another kind',
    ['migrate', '--database-url', 'mysql://u:secret@h/d'],
    /must be a postgresql:\/\/ URL/,
  ],
];

it.each(WRONG)('refuses %s', async (_name, argv, message) => {
  const { exitCode, stdout, stderr } = await svcPkg(argv);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain('secret');
});

it.each(WRONG)('refuses %s as JSON', async (_name, argv) => {
  const outcome = await svcPkg(['--json', ...argv]);
  expect({ exitCode: outcome.exitCode, stdout: outcome.stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(outcome.error()).toEqual({ code: 'usage', message: expect.any(String), exit_code: 2 });
});

it('reports a missing command as JSON', async () => {
  const outcome = await svcPkg(['--json']);
  expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
  expect(outcome.error()).toEqual({ code: 'usage', message: 'Missing command', exit_code: 2 });
});

it('refuses a key with characters that are invalid in a header, and does not repeat it', async () => {
  const outcome = await svcPkg(['upload', 'a'], { env: { SVC_API_KEY: 'geheim\nX-Evil: 1' } });
  expect(outcome.exitCode).toBe(2);
  expect(outcome.stderr).toContain('SVC_API_KEY must hold 1 to 512 visible ASCII characters');
  expect(outcome.stderr).not.toContain('geheim');
});

it.each([['migrate'], ['help', 'migrate']])('says where %s lives', async (...argv) => {
  expect(await svcPkg(argv, { database: null })).toMatchObject({
    exitCode: 2,
    stderr:
      'svc-pkg: Databases are migrated by svc-admin migrate (usage)\n' +
      'It belongs to a deployment: image svc-cli, or apps/cli of a built workspace\n',
  });
});
