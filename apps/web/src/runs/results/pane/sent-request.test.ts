import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { curlOf, readSentRequest } from './sent-request.tsx';

const BODY = `{"messages":[{"content":"It's $HOME, \\"so\\" ,\\"body\\":1 \\u0000","role":"user"}],"model":"m"}`;
const TEXT = `{"method":"POST","url":"http://127.0.0.1:1/v1/chat?a=','b","headers":{"content-type":"application/json","x-team":"it's"},"body":${BODY}}\n`;

/** What a shell passes to `curl`. */
const argumentsOf = (command: string, env: Readonly<Record<string, string>> = {}): readonly string[] =>
  execFileSync('sh', ['-s'], {
    input: `curl() { printf '%s\\037' "$@"; case "$*" in *@-*) cat;; esac; }\n${command}\n`,
    encoding: 'utf8',
    env,
    maxBuffer: 10_000_000,
  }).split('\u001F');

describe('curlOf', () => {
  it('passes every byte of a request through a shell, and the key by the name of its variable', () => {
    const request = readSentRequest(TEXT);
    expect(request.body).toBe(BODY);
    const command = curlOf(request, { api_key_env: 'SVC_PROVIDER_LAB' });
    expect(argumentsOf(command, { SVC_PROVIDER_LAB: 'secret', HOME: '/x' })).toEqual([
      "http://127.0.0.1:1/v1/chat?a=','b",
      ...['-H', 'content-type: application/json', '-H', "x-team: it's", '-H', 'Authorization: Bearer secret'],
      ...['--data-raw', BODY, ''],
    ]);
    const key = (asked: object) => curlOf(request, { api_key_env: 'K', ...asked });
    expect(key({ type: 'anthropic' })).toContain('"x-api-key: $K"');
    expect(key({ auth: 'api-key' })).toContain('"api-key: $K"');
    expect(curlOf(request, {})).not.toContain('Authorization');
  });

  it('sends a long body through the standard input', () => {
    const body = JSON.stringify({ content: "it's ".repeat(40_000) });
    const command = curlOf({ url: 'http://127.0.0.1:1/', headers: {}, body }, {});
    expect(argumentsOf(command).at(-1)).toBe(`${body}\n`);
  });
});
