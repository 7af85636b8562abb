import { expect, it } from 'vitest';
import { captured } from '../../test/run-svc-pkg.ts';
import { CliError, ServiceError } from './cli-error.ts';
import { errorLine, printError, toFailure } from './failure.ts';

it.each([
  [{}, 'svc-pkg: It failed (c)'],
  [{ file: 'a.zip' }, 'a.zip: It failed (c)'],
  [{ file: 'a', line: 3 }, 'a:3: It failed (c)'],
  [{ file: 'a', line: 3, column: 7 }, 'a:3:7: It failed (c)'],
  [{ file: 'a', line: 3, column: 7, path: '/x/0' }, 'a:3:7: It failed at /x/0 (c)'],
  [{ file: 'a', path: '' }, 'a: It failed (c)'],
  [{ row: 5 }, 'row 5: It failed (c)'],
  [{ path: '/x' }, 'svc-pkg: It failed at /x (c)'],
  [{ file: 'a\nb\u001b[31m' }, 'a\\u000ab\\u001b[31m: It failed (c)'],
])('prints the location %j', (location, line) => {
  expect(errorLine({ location, message: 'It failed', code: 'c' })).toBe(line);
});

it('does not repeat a pointer that the message names', () => {
  expect(errorLine({ location: { path: '/x' }, message: '/x must be a string', code: 'c' })).toBe(
    'svc-pkg: /x must be a string (c)',
  );
});

const system = (code: string, more: object = {}) =>
  Object.assign(new Error(`${code}: open`), { code, syscall: 'open', ...more });

it.each([
  [
    'an error of the command line',
    new CliError('usage', 'No'),
    { code: 'usage', exitCode: 2, message: 'No', location: {} },
  ],
  [
    'an error of a package',
    Object.assign(new Error('m'), { code: 'package_corrupt', location: { file: 'f' } }),
    { code: 'package_corrupt', exitCode: 1, location: { file: 'f' } },
  ],
  [
    'an error of the system',
    system('EACCES', { path: '/x' }),
    { code: 'io_error', exitCode: 3, location: { file: '/x' } },
  ],
  ['a broken pipe', system('EPIPE', { syscall: 'write' }), { code: 'broken_pipe', exitCode: 141 }],
  ['an error without a code', new TypeError('x is undefined'), { code: 'fault', exitCode: 70 }],
  [
    'an error with a code of Node',
    Object.assign(new Error('bad'), { code: 'ERR_INVALID_ARG_TYPE' }),
    { code: 'fault', exitCode: 70 },
  ],
  [
    'a value that is not an error',
    'text',
    { code: 'fault', exitCode: 70, message: 'Unexpected error: text' },
  ],
])('classifies %s', (_name, error, failure) => {
  expect(toFailure(error)).toMatchObject(failure);
});

async function printed(error: unknown, json: boolean): Promise<string> {
  const { stream, bytes } = captured();
  await printError(stream, toFailure(error), { json });
  return bytes().toString();
}

it('prints an error of the service in both forms', async () => {
  const error = new ServiceError('invalid_request', 'Two fields are wrong', {
    status: 400,
    errors: [
      { message: 'must be a string', path: '/name' },
      { message: 'too long', file: 'a', line: 1, code: 'invalid_row' },
    ],
    errorsTotal: 3,
    requestId: 'r1',
    retryAfterSeconds: undefined,
  });
  expect(await printed(error, false)).toBe(
    'svc-pkg: Two fields are wrong (invalid_request)\nsvc-pkg: must be a string at /name\na:1: too long (invalid_row)\n  ... and 1 more\n',
  );
  expect(JSON.parse(await printed(error, true))).toEqual({
    error: {
      code: 'invalid_request',
      message: 'Two fields are wrong',
      exit_code: 1,
      status: 400,
      request_id: 'r1',
      errors: [
        { message: 'must be a string', path: '/name' },
        { message: 'too long', file: 'a', line: 1, code: 'invalid_row' },
      ],
      errors_total: 3,
    },
  });
});

it('prints a repeated message once, with its location', async () => {
  const error = new ServiceError('package_invalid_line', 'It is wrong', {
    status: 400,
    errors: [{ message: 'It is wrong', file: 'a', line: 1 }],
    errorsTotal: 1,
    requestId: 'r1',
    retryAfterSeconds: undefined,
  });
  expect(await printed(error, false)).toBe('a:1: It is wrong (package_invalid_line)\n');
});

it('prints the only error of a message that says it already once', async () => {
  const error = new ServiceError('invalid_request', 'Invalid run configuration: --base-url is missing.', {
    status: 400,
    errors: [{ message: '--base-url is missing.', path: '/config/provider/base_url' }],
    errorsTotal: 1,
    requestId: 'r1',
    retryAfterSeconds: undefined,
  });
  expect(await printed(error, false)).toBe(
    'svc-pkg: Invalid run configuration: --base-url is missing (invalid_request)\n',
  );
});

it('prints nothing for a broken pipe', async () => {
  expect(await printed(system('EPIPE', { syscall: 'write' }), false)).toBe('');
});
