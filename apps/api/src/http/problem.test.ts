import { createRedactor } from '@svc/observability';
import { RequestError } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { isInternalError, isOutage, toProblem } from './problem.ts';

const at = { instance: '/datasets/upload', requestId: 'r1' };

describe('toProblem', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE'])(
    'makes a lack of room, %s, an outage that says nothing of the server’s files',
    (code) => {
      const error = Object.assign(new Error(`${code}: open '/var/spool/secret'`), { code });
      const { status, headers, body } = toProblem(error, at);
      expect([status, body.code, headers]).toEqual([503, 'unavailable', { 'Retry-After': '10' }]);
      expect(JSON.stringify(body)).not.toContain('spool');
      expect([isOutage(error), isInternalError(error)]).toEqual([true, false]);
    },
  );

  it('repeats no secret, wherever a client put it', () => {
    const redact = createRedactor(['k3y-of-somebody']);
    const error = new RequestError('invalid_request', 'no k3y-of-somebody', {
      errors: [{ message: 'k3y-of-somebody is too long', path: '/k3y-of-somebody', row: 3 }],
    });
    const { body } = toProblem(error, { instance: '/datasets/k3y-of-somebody', requestId: 'r1' }, redact);
    expect(body).toMatchObject({
      detail: 'no [redacted]',
      instance: '/datasets/[redacted]',
      errors: [{ message: '[redacted] is too long', path: '/[redacted]', row: 3 }],
      errors_total: 1,
    });
  });

  it('makes anything that is not known a fault, and says nothing of it', () => {
    for (const error of [
      new Error('secret'),
      Object.assign(new Error('secret'), { code: 'EACCES' }),
      'secret',
    ]) {
      const { status, body } = toProblem(error, at);
      expect([status, body.code]).toEqual([500, 'internal']);
      expect(JSON.stringify(body)).not.toContain('secret');
      expect([isOutage(error), isInternalError(error)]).toEqual([false, true]);
    }
  });
});
