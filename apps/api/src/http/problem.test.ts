import { JsonlError } from '@svc/jsonl-v23';
import { createRedactor } from '@svc/observability';
import { isOutage, problem, RequestError } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { classify, serializeProblem } from './problem.ts';

const at = { instance: '/datasets/upload', requestId: 'r1' };

describe('the problem of an error', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE'])(
    'is an outage for an exhausted system, %s, without the names of files',
    (code) => {
      const error = Object.assign(new Error(`${code}: open '/var/spool/secret'`), { code });
      const view = classify(error);
      const body = problem(view, at);
      expect([body.status, body.code, view.headers]).toEqual([503, 'unavailable', { 'Retry-After': '10' }]);
      expect(JSON.stringify(body)).not.toContain('spool');
      expect([isOutage(view, error), view.code]).toEqual([true, 'unavailable']);
    },
  );

  it('contains no secret, wherever a client put it', () => {
    const redact = createRedactor(['k3y-of-a-client']);
    const error = new RequestError('invalid_request', 'no k3y-of-a-client', {
      errors: [{ message: 'k3y-of-a-client is too long', path: '/k3y-of-a-client', row: 3 }],
    });
    const body = problem(classify(error), { instance: '/datasets/k3y-of-a-client', requestId: 'r1' }, redact);
    expect(body).toMatchObject({
      detail: 'no [redacted]',
      instance: '/datasets/[redacted]',
      errors: [{ message: '[redacted] is too long', path: '/[redacted]', row: 3 }],
      errors_total: 1,
    });
  });

  it('has sentences, whether the error ends with a full stop or not', () => {
    const location = { file: 'a.jsonl', line: 2 };
    const messages = ['An item must be an object, got a number', 'Cannot read the row: it is cut off.'];
    const bodies = messages.map((message) =>
      problem(classify(new JsonlError('invalid_row', message, location)), at),
    );
    const details = ['An item must be an object, got a number.', 'Cannot read the row: it is cut off.'];
    expect(bodies).toMatchObject(
      details.map((detail) => ({ detail, errors: [{ message: detail, ...location }] })),
    );
    const stored = JSON.stringify({
      code: 'invalid_row',
      message: messages[0],
      errors: [{ message: messages[0] }],
    });
    expect(serializeProblem(stored, at)).toMatchObject({
      detail: details[0],
      errors: [{ message: details[0] }],
    });
  });

  it('is internal for any other error, and does not contain its text', () => {
    for (const error of [
      new Error('secret'),
      Object.assign(new Error('secret'), { code: 'EACCES' }),
      'secret',
    ]) {
      const view = classify(error);
      const body = problem(view, at);
      expect([body.status, body.code]).toEqual([500, 'internal']);
      expect(JSON.stringify(body)).not.toContain('secret');
      expect([isOutage(view, error), view.code]).toEqual([false, 'internal']);
    }
  });
});
