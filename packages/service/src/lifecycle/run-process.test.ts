import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import {
  type ProcessHandle,
  type Running,
  runProcess,
  type StartService,
  settingsOf,
} from './run-process.ts';

/** A process that records its exit instead of exiting. */
class FakeProcess extends EventEmitter {
  readonly env: Record<string, string>;
  readonly connected: boolean;
  readonly written: string[] = [];
  readonly stdout: { isTTY: boolean } = { isTTY: false };
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

const running = (stop: () => Promise<void> = async () => {}): Running => ({ stop });

describe('a process that must stop', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['disconnect', 1],
  ])('by %s before it has started aborts its start, with exit code %i', async (event, expected) => {
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

  it('stops a service whose start ignores the abort', async () => {
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

  it('does not wait forever for a start that does not finish', async () => {
    const { proc, code } = run(() => new Promise<Running>(() => undefined));
    proc.emit('SIGTERM');
    expect(await code).toBe(143);
  });

  it.each(['SIGTERM', 'SIGINT', 'disconnect'])(
    'by %s exits with code 0 once it has started',
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

  it('stops when its parent process has ended before it listened', async () => {
    const { code } = run(async (_config, _logger, signal) => {
      await once(signal, 'abort');
      throw signal.reason;
    }, new FakeProcess(false));
    expect(await code).toBe(1);
  });
});

it('reports why a start fails, with exit code 1', async () => {
  const { proc, code } = run(() => Promise.reject(new Error('Process 7 is using the data folder.')));
  expect(await code).toBe(1);
  expect(proc.written).toEqual(['Cannot start svc-standalone: Process 7 is using the data folder.\n']);
});

it('logs what differs from the defaults by the names of the variables, and no secret', () => {
  expect(settingsOf(loadConfig({}))).toEqual({});
  const env = {
    SVC_API_KEYS: 'admin:0123456789abcdef',
    HUB_TOKEN: 'hf_x',
    SVC_PORT: '9000',
    SVC_HOST: '127.0.0.1',
  };
  expect(settingsOf(loadConfig(env))).toEqual({
    SVC_PORT: 9000,
    SVC_API_KEYS: [expect.objectContaining({ role: 'admin', key: '[secret]', name: null })],
    HUB_TOKEN: '[secret]',
  });
});
