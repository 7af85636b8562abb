import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runWithContext } from './context.ts';
import { createLogger, type LoggerOptions } from './create-logger.ts';

function memoryLogger(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'svc-api',
    now: () => new Date(0),
    write: (line) => void lines.push(line),
    ...options,
  });
  return { lines, logger };
}

describe('createLogger', () => {
  it('writes one line per event at once, with the ids of the running context', () => {
    const { lines, logger } = memoryLogger();
    runWithContext({ request_id: 'r' }, () => logger.log('healthz.check'));
    expect(lines).toEqual([
      '{"timestamp":"1970-01-01T00:00:00.000Z","level":"info","service":"svc-api","event":"healthz.check","request_id":"r"}\n',
    ]);
  });

  it('writes a thousand lines of one turn in order, one write each', () => {
    const { lines, logger } = memoryLogger();
    for (let i = 0; i < 1000; i++) logger.log('spool.clean', { files: i, bytes: 0 });
    expect(lines.map((line) => JSON.parse(line).files)).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  });

  it.each([
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('at level %s writes %j', (level, expected) => {
    const { lines, logger } = memoryLogger({ level });
    logger.log('error.internal', { error: new Error('x') });
    logger.log('readyz.fail', { checks: {} });
    logger.log('healthz.check');
    logger.log('provider.request', { host: 'h', model: 'm', status_code: 200, attempt: 1, duration_ms: 1 });
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
    expect(logger.isEnabled('healthz.check')).toBe(expected.includes('info' as never));
  });

  it('accepts events in addition to the catalogue, at their own level', () => {
    const lines: string[] = [];
    const logger = createLogger<{ 'mail.sent': { recipients: number }; 'mail.idle': Record<never, never> }>({
      service: 'post',
      write: (line) => void lines.push(line),
      events: { 'mail.sent': { level: 'warn' }, 'mail.idle': { level: 'debug' } },
    });
    logger.log('mail.sent', { recipients: 3 });
    logger.log('mail.idle');
    logger.log('healthz.check');
    // @ts-expect-error an undeclared event; plain JavaScript may still log it
    logger.log('mail.lost');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', service: 'post', event: 'mail.sent', recipients: 3 },
      { level: 'info', event: 'healthz.check' },
      { level: 'info', event: 'mail.lost' },
    ]);
    expect(logger.isEnabled('mail.idle')).toBe(false);
  });

  it('never shows a known secret', () => {
    const { lines, logger } = memoryLogger({ secrets: ['hf_0123'] });
    logger.log('error.internal', { error: new Error('bad token hf_0123') });
    expect(lines[0]).not.toContain('hf_0123');
  });

  it('continues when a line cannot be written', async () => {
    let calls = 0;
    const { logger } = memoryLogger({
      write: () => {
        calls += 1;
        if (calls === 1) throw new Error('broken pipe');
        return Promise.reject(new Error('broken pipe'));
      },
    });
    logger.log('healthz.check');
    logger.log('healthz.check');
    logger.log('healthz.check');
    await logger.close();
    expect(calls).toBe(3);
  });

  it('flushes pending writes and drops lines after close', async () => {
    const release: (() => void)[] = [];
    const { logger } = memoryLogger({ write: () => new Promise<void>((resolve) => release.push(resolve)) });
    logger.log('healthz.check');
    logger.log('healthz.check');
    let flushed = false;
    const end = logger.close().then(() => {
      flushed = true;
    });
    await Promise.resolve();
    expect([release.length, flushed]).toEqual([2, false]);
    for (const done of release) done();
    await end;
    logger.log('healthz.check');
    expect([release.length, flushed]).toEqual([2, true]);
  });

  it('writes to standard output by default, everything before the process ends', async () => {
    const source = fileURLToPath(new URL('./create-logger.ts', import.meta.url));
    const script = `import { createLogger } from ${JSON.stringify(source)};
      const logger = createLogger({ service: 'svc-worker' });
      for (let i = 0; i < 5000; i++) logger.log('spool.clean', { files: i, bytes: 0 });
      await logger.close();
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      maxBuffer: 16 * 1024 * 1024,
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(5000);
    expect(JSON.parse(lines[4999]!)).toMatchObject({
      service: 'svc-worker',
      event: 'spool.clean',
      files: 4999,
    });
  });

  it('continues when the reader of standard output has closed it', async () => {
    const source = fileURLToPath(new URL('./create-logger.ts', import.meta.url));
    const script = `import { createLogger } from ${JSON.stringify(source)};
      const loggers = ['svc-api', 'svc-worker'].map((service) => createLogger({ service }));
      process.stdin.resume().on('end', async () => {
        for (const logger of loggers) {
          for (let i = 0; i < 100; i++) logger.log('healthz.check');
          await logger.close();
        }
        process.stderr.write('still here');
      });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    child.stdout.destroy();
    const output: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => output.push(text));
    child.stdin.end();
    const [exitCode] = await once(child, 'close');
    expect([exitCode, output.join('')]).toEqual([0, 'still here']);
  });
});
