import { describe, expect, it } from 'vitest';
import { isFault, isOutage, toProblem } from './problem.ts';

const at = { instance: '/datasets/upload', requestId: 'r1' };

describe('toProblem', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE'])(
    'makes a lack of room, %s, an outage that says nothing of the server’s files',
    (code) => {
      const error = Object.assign(new Error(`${code}: open '/var/spool/secret'`), { code });
      const { status, headers, body } = toProblem(error, at);
      expect([status, body.code, headers]).toEqual([503, 'unavailable', { 'Retry-After': '10' }]);
      expect(JSON.stringify(body)).not.toContain('spool');
      expect([isOutage(error), isFault(error)]).toEqual([true, false]);
    },
  );

  it('makes anything that is not known a fault, and says nothing of it', () => {
    for (const error of [
      new Error('secret'),
      Object.assign(new Error('secret'), { code: 'EACCES' }),
      'secret',
    ]) {
      const { status, body } = toProblem(error, at);
      expect([status, body.code]).toEqual([500, 'internal']);
      expect(JSON.stringify(body)).not.toContain('secret');
      expect([isOutage(error), isFault(error)]).toEqual([false, true]);
    }
  });
});
