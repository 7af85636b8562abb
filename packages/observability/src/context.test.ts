import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { currentContext, currentSecrets, runWithContext } from './context.ts';

describe('runWithContext', () => {
  it('is empty outside', () => {
    expect(currentContext()).toEqual({});
  });

  it('merges the inner context over the outer one, and restores it', () => {
    runWithContext({ request_id: 'r' }, () => {
      runWithContext({ run_id: 'n', job_id: 'j' }, () => {
        expect(currentContext()).toEqual({ request_id: 'r', run_id: 'n', job_id: 'j' });
        runWithContext({ run_id: 'm' }, () => expect(currentContext().run_id).toBe('m'));
        expect(currentContext().run_id).toBe('n');
      });
      expect(currentContext().run_id).toBeUndefined();
    });
    expect(currentContext()).toEqual({});
  });

  it('keeps the outer value where the inner one is undefined', () => {
    runWithContext({ request_id: 'r' }, () =>
      runWithContext({ request_id: undefined }, () => expect(currentContext().request_id).toBe('r')),
    );
  });

  it('restores the outer context after a throw and after a rejection', async () => {
    expect(() =>
      runWithContext({ run_id: 'n' }, () => {
        throw new Error('x');
      }),
    ).toThrow('x');
    expect(currentContext()).toEqual({});
    const rejected = runWithContext({ run_id: 'n' }, async () => {
      await sleep(1);
      throw new Error('y');
    });
    expect(currentContext()).toEqual({});
    await expect(rejected).rejects.toThrow('y');
    expect(currentContext()).toEqual({});
  });

  it('keeps concurrent tasks apart', async () => {
    const seen = await Promise.all(
      ['a', 'b', 'c'].map((id) =>
        runWithContext({ run_id: id }, async () => {
          await sleep(1);
          return currentContext().run_id;
        }),
      ),
    );
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('reaches timers and generators started inside', async () => {
    async function* ids(): AsyncGenerator<string | undefined> {
      await sleep(1);
      yield currentContext().request_id;
    }
    await runWithContext({ request_id: 'r' }, async () => {
      for await (const id of ids()) expect(id).toBe('r');
    });
  });

  it('takes fields of any name', () => {
    const fields = JSON.parse('{"order":{"id":7},"__proto__":{"x":1}}');
    runWithContext(fields, () => {
      expect(currentContext()).toEqual({ order: { id: 7 } });
      expect(currentContext()['x']).toBeUndefined();
    });
  });

  it('adds secrets up', () => {
    const inner = (): readonly string[] => runWithContext({}, currentSecrets, { secrets: ['two'] });
    expect(runWithContext({}, inner, { secrets: ['one'] })).toEqual(['one', 'two']);
    expect(currentSecrets()).toEqual([]);
  });
});
