import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type ProcessHandle, type Running, runProcess, type StartService } from './run-process.ts';

/** A process that notes its end instead of ending. */
class FakeProcess extends EventEmitter {
  readonly env: Record<string, string>;
  readonly connected: boolean;
  readonly written: string[] = [];
  readonly stderr: { write: (text: string) => number } = { write: (text) => this.written.push(text) };
  constructor(connected = true) {
    super();
    this.connected = connected;
    this.env = { SVC_DRAIN_TIMEOUT_MS: '1000', SVC_LOG_LEVEL: 'error' };
  }
  exit(code: number): void {
    this.emit('ended', code);
  }
}

function run(start: StartService, proc = new FakeProcess()): { proc: FakeProcess; code: Promise<number> } {
  const code = once(proc, 'ended').then(([value]) => value as number);
  void runProcess('svc-standalone', proc as unknown as ProcessHandle, start);
  return { proc, code };
}

const running = (stop: () => Promise<void> = async () => {}): Running => ({ stop, kill: () => {} });

describe('a process that is told to stop', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['disconnect', 1],
  ])('by %s before it has started ends its start, with exit code %i', async (event, expected) => {
    let freed = false;
    const { proc, code } = run(async (_config, _logger, signal) => {
      await once(signal, 'abort');
      freed = true;
      throw signal.reason;
    });
    proc.emit(event);
    expect(await code).toBe(expected);
    expect(freed).toBe(true);
    expect(proc.written).toEqual([]);
  });

  it('stops what a start makes that goes on all the same', async () => {
    let isStopped = false;
    const { proc, code } = run(async (_config, _logger, signal) => {
      await once(signal, 'abort');
      return running(async () => {
        isStopped = true;
      });
    });
    proc.emit('SIGTERM');
    expect(await code).toBe(143);
    expect(isStopped).toBe(true);
  });

  it('does not wait for ever for a start that does not end', async () => {
    const { proc, code } = run(() => new Promise<Running>(() => undefined));
    proc.emit('SIGTERM');
    expect(await code).toBe(143);
  });

  it.each(['SIGTERM', 'SIGINT', 'disconnect'])(
    'by %s ends with exit code 0 once it has started',
    async (event) => {
      let isStopped = false;
      const { proc, code } = run(async () =>
        running(async () => {
          isStopped = true;
        }),
      );
      await new Promise((resolve) => setImmediate(resolve));
      proc.emit(event);
      expect(await code).toBe(0);
      expect(isStopped).toBe(true);
    },
  );

  it('stops when the process that has started it was gone before it listened', async () => {
    const { code } = run(async (_config, _logger, signal) => {
      await once(signal, 'abort');
      throw signal.reason;
    }, new FakeProcess(false));
    expect(await code).toBe(1);
  });
});

it('a start that fails says why, with exit code 1', async () => {
  const { proc, code } = run(() => Promise.reject(new Error('Process 7 is using the data folder.')));
  expect(await code).toBe(1);
  expect(proc.written).toEqual(['svc-standalone could not start: Process 7 is using the data folder.\n']);
});
