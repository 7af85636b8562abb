import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { runWithContext } from './context.ts';
import { createLogger, type Logger, type LoggerOptions } from './create-logger.ts';
import { event } from './event.ts';

const events = {
  'mail.lost': event<{ error: unknown }>('error'),
  'mail.late': event<{ minutes: number }>('warn'),
  'mail.sent': event<{ recipients?: number }>('info'),
  'mail.idle': event('debug'),
};

function memoryLogger(options: Partial<LoggerOptions<typeof events>> = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    service: 'post',
    events,
    now: () => new Date(0),
    write: (line) => void lines.push(line),
    ...options,
  });
  return { lines, logger };
}

describe('createLogger', () => {
  it('writes one line per event, with the ids of the running context', async () => {
    const { lines, logger } = memoryLogger();
    runWithContext({ request_id: 'r' }, () => logger.log('mail.sent'));
    await logger.flush();
    expect(lines).toEqual([
      '{"timestamp":"1970-01-01T00:00:00.000Z","level":"info","service":"post","event":"mail.sent","request_id":"r"}\n',
    ]);
  });

  it('writes a thousand lines of one turn in order, one write each', async () => {
    const { lines, logger } = memoryLogger();
    for (let i = 0; i < 1000; i++) logger.log('mail.sent', { recipients: i });
    await logger.flush();
    expect(lines.map((line) => JSON.parse(line).recipients)).toEqual(
      Array.from({ length: 1000 }, (_, i) => i),
    );
    expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  });

  it.each([
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
  ] as const)('at level %s writes %j', async (level, expected) => {
    const { lines, logger } = memoryLogger({ level });
    logger.log('mail.lost', { error: new Error('x') });
    logger.log('mail.late', { minutes: 1 });
    logger.log('mail.sent');
    logger.log('mail.idle');
    await logger.flush();
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expected);
    expect(logger.isEnabled('mail.sent')).toBe(expected.includes('info' as never));
  });

  it('takes only declared events and fields, or any without a declaration', async () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const logger = createLogger({ service: 'post', events, write });
    // @ts-expect-error an undeclared event; plain JavaScript may still log it
    logger.log('mail.snet');
    // @ts-expect-error a required field
    expect(() => logger.log('mail.late')).not.toThrow();
    // @ts-expect-error an event without fields
    logger.log('mail.idle', { a: 1 });
    logger.log('http.request', {
      ...{ method: 'GET', route: '/', status_code: 200, duration_ms: 1, bytes_in: 0, bytes_out: 9 },
    });
    const free: Logger = createLogger({ service: 'post', write });
    free.log('mail.sent', { recipients: 3 });
    const levels = createLogger({ service: 'post', events: { 'mail.sent': { level: 'warn' } }, write });
    levels.log('mail.sent', { recipients: 4 });
    for (const one of [logger, free, levels]) await one.flush();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', event: 'mail.snet' },
      { level: 'warn', event: 'mail.late' },
      { level: 'info', event: 'http.request', status_code: 200 },
      { level: 'info', event: 'mail.sent', recipients: 3 },
      { level: 'warn', event: 'mail.sent', recipients: 4 },
    ]);
  });

  it.each<[object, Error]>([
    [{ level: 'y' }, new RangeError('level must be error, warn, info or debug, got "y".')],
    [
      { level: 3 },
      new RangeError('level must be error, warn, info or debug, got a value of the type number.'),
    ],
    [{ level: 'toString' }, new RangeError('level must be error, warn, info or debug, got "toString".')],
    [
      { events: { 'mail.sent': { level: 'y' } } },
      new RangeError('The level of the event "mail.sent" must be error, warn, info or debug, got "y".'),
    ],
  ])('refuses %j', (options, expected) => {
    expect(() => createLogger({ service: 'post', ...options } as never)).toThrow(expected);
  });

  it('accepts an option that is undefined', async () => {
    const { lines, logger } = memoryLogger({ level: undefined as never });
    logger.log('mail.sent');
    await logger.flush();
    expect(lines).toHaveLength(1);
  });

  it('never shows a known secret', async () => {
    const error = new Error('bad token hf_0123 of https://me:pass@host/');
    for (const redact of [['hf_0123'], (text: string) => text.replaceAll('hf_0123', '***')]) {
      const { lines, logger } = memoryLogger({ redact });
      logger.log('mail.lost', { error });
      await logger.flush();
      expect(lines[0]).toContain('bad token');
      expect(lines[0]).not.toMatch(/hf_0123|me:pass/);
    }
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
    logger.log('mail.sent');
    logger.log('mail.sent');
    logger.log('mail.sent');
    await logger.close();
    expect(calls).toBe(3);
  });

  it('flushes pending writes and drops lines after close', async () => {
    const release: (() => void)[] = [];
    const { logger } = memoryLogger({ write: () => new Promise<void>((resolve) => release.push(resolve)) });
    logger.log('mail.sent');
    logger.log('mail.sent');
    let flushed = false;
    const end = logger.close().then(() => {
      flushed = true;
    });
    await expect.poll(() => release.length).toBe(2);
    expect(flushed).toBe(false);
    for (const done of release) done();
    await end;
    logger.log('mail.sent');
    expect([release.length, flushed]).toEqual([2, true]);
  });

  it('writes to standard output by default, everything before the process ends', async () => {
    const source = fileURLToPath(new URL('./create-logger.ts', import.meta.url));
    const script = `import { createLogger } from ${JSON.stringify(source)};
      const logger = createLogger({ service: 'post' });
      for (let i = 0; i < 5000; i++) logger.log('mail.sent', { recipients: i });
      await logger.close();
      process.exit(0);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      maxBuffer: 16 * 1024 * 1024,
    });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(5000);
    expect(JSON.parse(lines[4999]!)).toMatchObject({
      service: 'post',
      event: 'mail.sent',
      recipients: 4999,
    });
  });

  it('continues when the reader of standard output has closed it', async () => {
    const source = fileURLToPath(new URL('./create-logger.ts', import.meta.url));
    const script = `import { createLogger } from ${JSON.stringify(source)};
      const loggers = ['post', 'shop'].map((service) => createLogger({ service }));
      process.stdin.resume().on('end', async () => {
        for (const logger of loggers) {
          for (let i = 0; i < 100; i++) logger.log('mail.sent');
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
