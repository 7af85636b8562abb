import { expect, it } from 'vitest';
import { StoreError, toStoreError } from './errors.ts';

const withFacts = (facts: object, message = 'x'): Error => Object.assign(new Error(message), facts);

it.each([
  ['a refused connection', withFacts({ code: 'ECONNREFUSED' })],
  ['several refused addresses', new AggregateError([withFacts({ code: 'ECONNREFUSED' })])],
  ['a socket that is gone', withFacts({ code: 'ENOENT', syscall: 'connect' })],
  ['a server that shuts down', withFacts({ code: '57P01' })],
  ['a server that starts', withFacts({ code: '57P03' })],
  ['too many connections', withFacts({ code: '53300' })],
  ['a disk that is full', withFacts({ code: '53100' })],
  ['no memory', withFacts({ code: '53200' })],
  ['a time limit of the server', withFacts({ code: '57014' })],
  ['a deadlock', withFacts({ code: '40P01' })],
  ['a lock that others hold', withFacts({ code: '55P03' })],
  ['no more file descriptors in this process', withFacts({ code: 'EMFILE' })],
  ['a lost connection', new Error('Connection terminated unexpectedly')],
  ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
  ['a node of a cluster that is lost', withFacts({ code: '58030' }, 'failed to COPY to shard 7 on a:5432')],
  [
    'one that others wait for',
    withFacts({ code: 'XX000' }, 'failure on connection marked as essential: a:5432'),
  ],
  [
    'a node that ends its sessions',
    withFacts({ code: 'XX000' }, 'terminating connection due to administrator command'),
  ],
  ['one as the cause of another', new Error('outer', { cause: withFacts({ code: '08006' }) })],
])('names %s', (_, error) => {
  const named = toStoreError(error);
  expect(named).toBeInstanceOf(StoreError);
  expect(named).toMatchObject({ code: 'unavailable', cause: error });
});

it.each([
  ['unreachable', withFacts({ code: 'ECONNREFUSED' })],
  ['unreachable', withFacts({ code: '57P01' })],
  ['refused', withFacts({ code: '28P01' })],
  ['refused', withFacts({ code: '3D000' })],
  ['refused', withFacts({ code: '42501' })],
  ['not_migrated', withFacts({ code: '42P01' })],
  ['not_migrated', withFacts({ code: '42703' })],
  ['full', withFacts({ code: '53100' })],
  [undefined, withFacts({ code: '40P01' })],
  [undefined, withFacts({ code: '53300' })],
])('gives %s as the reason', (reason, error) => {
  expect(toStoreError(error)).toMatchObject({ code: 'unavailable', reason });
});

it.each([
  ['a StoreError', new StoreError('run_finished', 'x')],
  ['a wrong statement', withFacts({ code: '42601' })],
  ['a broken rule', withFacts({ code: '23505' })],
  ['a file that is gone', withFacts({ code: 'ENOENT', syscall: 'open' })],
  ['any error', new Error('x')],
  ['a value that is not an error', 'text'],
  ['nothing', undefined],
])('leaves %s alone', (_, error) => {
  expect(toStoreError(error)).toBe(error);
});

it.each([
  ['53100', 'has no room left on its disk'],
  ['53300', 'has no connection left'],
  ['57014', 'took too long'],
  ['57P01', 'cannot be reached'],
])('says what %s means', (code, message) => {
  expect(toStoreError(withFacts({ code }))).toMatchObject({ message: expect.stringContaining(message) });
});
