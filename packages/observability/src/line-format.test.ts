import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, type LineInfo, lineFormat, type Redactor } from './line-format.ts';

const MESSAGE = Symbol.for('message');

const base: LineInfo = {
  timestamp: '2024-02-29T12:34:56.789Z',
  level: 'info',
  service: 'svc-api',
  message: 'http.request',
  context: {},
  secrets: [],
  fields: {},
};

function formatter(redact: Redactor): (info: LineInfo) => string {
  const format = lineFormat(redact, ['request_id', 'run_id', 'job_id']);
  return (info) => (format.transform(info) as unknown as { [MESSAGE]: string })[MESSAGE];
}

function line(fields: unknown, more: Partial<LineInfo> = {}, redact = createRedactor([])): string {
  return formatter(redact)({ ...base, fields: fields as LineInfo['fields'], ...more });
}

function fieldsOf(fields: unknown, more: Partial<LineInfo> = {}): Record<string, unknown> {
  const { timestamp, level, service, event, ...rest } = JSON.parse(line(fields, more));
  return rest;
}

describe('lineFormat', () => {
  it('writes its keys in the documented order', () => {
    expect(
      line(
        { status_code: 200, route: '/x' },
        { context: { shop: 's', job_id: 'j', run_id: 'n', request_id: 'r' } },
      ),
    ).toBe(
      '{"timestamp":"2024-02-29T12:34:56.789Z","level":"info","service":"svc-api","event":"http.request",' +
        '"request_id":"r","run_id":"n","job_id":"j","shop":"s","status_code":200,"route":"/x"}',
    );
  });

  it('leaves out ids that the context does not have', () => {
    expect(Object.keys(JSON.parse(line({}, { context: { run_id: 'n', job_id: undefined } })))).toEqual([
      'timestamp',
      'level',
      'service',
      'event',
      'run_id',
    ]);
  });

  it('renames fields that would overwrite a standard key or move to the front', () => {
    const fields = { timestamp: 1, event: 2, request_id: 3, run_id: 4, field_event: 5, '7': 6 };
    expect(Object.entries(JSON.parse(line(fields, { context: { request_id: 'r' } })))).toEqual([
      ['timestamp', '2024-02-29T12:34:56.789Z'],
      ['level', 'info'],
      ['service', 'svc-api'],
      ['event', 'http.request'],
      ['request_id', 'r'],
      ['field_7', 6],
      ['field_timestamp', 1],
      ['field_event', 2],
      ['field_request_id', 3],
      ['field_run_id', 4],
      ['field_field_event', 5],
    ]);
  });

  const cyclic: Record<string, unknown> = { a: 1 };
  cyclic['self'] = cyclic;
  const shared = { b: 1 };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();

  it.each<[string, unknown, unknown]>([
    ['a bigint', 12345678901234567890n, '12345678901234567890'],
    ['NaN', Number.NaN, 'NaN'],
    ['infinity', Number.NEGATIVE_INFINITY, '-Infinity'],
    ['null', null, null],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid date', new Date(Number.NaN), 'invalid date'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
    ['bytes', new Uint8Array(3), '[3 bytes]'],
    ['a map', new Map([['a', 1]]), [['a', 1]]],
    ['a set', new Set([1]), [1]],
    ['a URL', new URL('https://u:p@h/x'), 'https://[redacted]@h/x'],
    ['a cycle', cyclic, { a: 1, self: '[cycle]' }],
    ['the same object twice', [shared, shared], [{ b: 1 }, { b: 1 }]],
    ['undefined in a list', [undefined, 1], [null, 1]],
    ['a revoked proxy', proxy, '[unreadable]'],
    ['a null-prototype object', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    [
      'a secret by its name',
      { apiKey: 'x', hub_token: 'y', total_tokens: 3 },
      { apiKey: '[redacted]', hub_token: '[redacted]', total_tokens: 3 },
    ],
  ])('writes %s', (_name, value, expected) => {
    expect(fieldsOf({ value })).toEqual({ value: expected });
  });

  it('leaves out undefined values and functions', () => {
    expect(fieldsOf({ a: undefined, b: () => 1, c: 0 })).toEqual({ c: 0 });
  });

  it('survives getters that throw and never calls toJSON', () => {
    const trap = {
      get bad(): never {
        throw new Error('getter');
      },
      good: 1,
      toJSON(): never {
        throw new Error('toJSON');
      },
    };
    expect(fieldsOf({ trap })).toEqual({ trap: { bad: '[unreadable]', good: 1 } });
    expect(fieldsOf(trap)).toEqual({ bad: '[unreadable]', good: 1 });
  });

  it('keeps a key named __proto__ as data', () => {
    expect(line(JSON.parse('{"a":{"__proto__":{"x":1}}}'))).toContain('"a":{"__proto__":{"x":1}}');
    expect(line(JSON.parse('{"__proto__":{"x":1}}'))).toContain('"__proto__":{"x":1}');
  });

  it('writes errors with their code and causes, and the stack at level error only', () => {
    const error = Object.assign(new TypeError('no', { cause: new RangeError('deep') }), {
      code: 'E1',
      query: 'SELECT',
    });
    expect(fieldsOf({ error })).toEqual({
      error: { name: 'TypeError', code: 'E1', message: 'no', cause: { name: 'RangeError', message: 'deep' } },
    });
    const { error: written } = fieldsOf({ error }, { level: 'error' }) as { error: { stack: string } };
    expect(written.stack).toContain('TypeError: no');
  });

  it('writes an error whose members throw', () => {
    const error = new Error('x');
    Object.defineProperty(error, 'message', {
      get() {
        throw new Error('y');
      },
    });
    expect(fieldsOf({ error })).toEqual({ error: { name: 'Error', message: '[unreadable]' } });
  });

  it('cuts long strings, lists, objects and depth, each with a mark', () => {
    const deep = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`);
    const wide = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, i]));
    const fields = fieldsOf({ text: 'x'.repeat(10_000), list: Array(150).fill(1), deep, wide });
    expect(fields['text']).toBe(`${'x'.repeat(8192)}… [1808 more characters]`);
    expect(fields['list']).toHaveLength(101);
    expect((fields['list'] as unknown[]).at(-1)).toBe('[50 more]');
    expect(JSON.stringify(fields['deep'])).toBe('[[[[[[["[too deep]"]]]]]]]');
    expect(Object.keys(fields['wide'] as object)).toHaveLength(101);
  });

  it('bounds the whole line', () => {
    const many = Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => ['y'.repeat(5000)]));
    expect(line({ many }).length).toBeLessThan(512 * 1024);
  });

  it('removes secrets from values, ids and causes, also at a cut', () => {
    const redact = createRedactor(['TOPSECRET']);
    const text = line(
      {
        a: 'x TOPSECRET',
        long: `${'x'.repeat(8188)}TOPSECRET`,
        error: new Error('m', { cause: new Error('TOPSECRET and REQUESTSECRET') }),
      },
      { level: 'error', context: { request_id: 'TOPSECRET' }, secrets: ['REQUESTSECRET'] },
      redact,
    );
    expect(text).not.toMatch(/TOPS|REQUESTS/);
    expect(JSON.parse(text).request_id).toBe('[redacted]');
  });

  it('stays one line for every reader', () => {
    const text = line({ a: '\n\r\u2028\u2029\u0085\u007f\u0000\ud800' });
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(JSON.parse(text).a).toBe('\n\r\u2028\u2029\u0085\u007f\u0000\ud800');
  });

  it('writes numbers, names and values as JSON.stringify does, without duplicates', () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('event', 'run_id', 'field_event', '12', 'field_12', '-0'),
    );
    const value = fc.oneof(fc.double(), fc.integer(), fc.string({ unit: 'binary' }), fc.boolean());
    fc.assert(
      fc.property(fc.dictionary(name, value), (fields) => {
        const text = line(fields);
        const { timestamp, level, service, event, ...rest } = JSON.parse(text);
        expect(Object.keys(rest)).toHaveLength(Object.keys(fields).length);
        expect(text.match(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)).toBeNull();
        for (const [key, kept] of Object.entries(fields)) {
          if (/^(field_|event$|run_id$|timestamp$|level$|service$|request_id$|job_id$|\d+$)/.test(key))
            continue;
          const isNumber = typeof kept === 'number' && Number.isFinite(kept);
          expect(rest[key]).toEqual(
            isNumber || typeof kept !== 'number' ? JSON.parse(JSON.stringify(kept)) : String(kept),
          );
        }
      }),
    );
  });

  it.each(['p', 'test', '"', 'settings', ','])('changes no name of a member for the secret %j', (secret) => {
    const fields = { settings: { testProviderKeys: 1, HUB_ENDPOINT: `x${secret}y` }, 'p"t': ['test'] };
    const text = line(fields, { secrets: ['ENDPOINT'] }, createRedactor([secret]));
    expect(JSON.parse(text)).toMatchObject({
      settings: { testProviderKeys: 1, HUB_ENDPOINT: 'x[redacted]y' },
      'p"t': [secret === 'test' ? '[redacted]' : expect.any(String)],
    });
  });

  it('gives valid JSON with the standard keys first whatever the fields hold', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
      withUnicodeString: true,
    } as fc.ObjectConstraints);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), anything), (fields) => {
        const keys = Object.keys(JSON.parse(line(fields)));
        expect(keys.slice(0, 4)).toEqual(['timestamp', 'level', 'service', 'event']);
      }),
    );
  });
});
