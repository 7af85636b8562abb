import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConnection } from './raw-connection.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({
    SVC_API_KEYS: 'viewer:see-key-of-the-tests-123,editor:edit-key-of-the-tests-123',
    SVC_MAX_JSON_BODY_BYTES: '1000',
    SVC_MAX_UPLOAD_BYTES: '1000',
    SVC_HEADERS_TIMEOUT_MS: '1000',
  });
});
afterAll(() => api[Symbol.asyncDispose]());

const MIB = 1024 * 1024;
const form = 'Content-Type: multipart/form-data; boundary=b\r\n';
const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n';

/** Clients such as Python's requests send the whole body before they read a byte of the answer. */
describe('a client that reads nothing before it has sent everything', () => {
  it.each<[string, string, string, number, string]>([
    ['has no key', 'POST /datasets/upload', form, 401, ''],
    [
      'has the wrong role',
      'POST /datasets/upload',
      `Authorization: Bearer see-key-of-the-tests-123\r\n${form}`,
      403,
      '',
    ],
    ['is at the wrong path', 'POST /nothing', 'Authorization: Bearer see-key-of-the-tests-123\r\n', 404, ''],
    [
      'sends too large a file',
      'POST /datasets/upload',
      `Authorization: Bearer edit-key-of-the-tests-123\r\n${form}`,
      413,
      part,
    ],
    [
      'sends too large a JSON body',
      'POST /datasets/hub/import',
      'Authorization: Bearer edit-key-of-the-tests-123\r\nContent-Type: application/json\r\n',
      413,
      '',
    ],
    [
      'sends a body that is not asked for',
      'GET /datasets',
      'Authorization: Bearer see-key-of-the-tests-123\r\n',
      200,
      '',
    ],
  ])('and %s still gets its answer', async (_name, line, headers, status, start) => {
    for (const framing of [
      `Content-Length: ${start.length + 20 * MIB}\r\n`,
      'Transfer-Encoding: chunked\r\n',
    ]) {
      using connection = await openConnection(api.url);
      connection.socket.pause();
      connection.send(`${line} HTTP/1.1\r\nHost: x\r\n${headers}${framing}\r\n`);
      const chunked = framing.startsWith('Transfer');
      const send = (bytes: Uint8Array): void => {
        if (chunked) connection.send(`${bytes.byteLength.toString(16)}\r\n`);
        connection.send(bytes);
        if (chunked) connection.send('\r\n');
      };
      if (start !== '') send(Buffer.from(start));
      for (let sent = 0; sent < 20 && !connection.socket.destroyed; sent++) {
        send(Buffer.alloc(MIB, 'x'));
        if (connection.socket.writableNeedDrain) {
          await Promise.race([once(connection.socket, 'drain'), connection.ended]);
        }
      }
      if (chunked) connection.send('0\r\n\r\n');
      connection.socket.resume();
      await connection.until(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\}\\n?$`));
      expect(connection.answer()).toContain('\r\nConnection: close\r\n');
      await connection.ended;
    }
    await expect
      .poll(() => api.log().filter((entry) => entry['status_code'] === status).length)
      .toBeGreaterThan(0);
    expect(api.log().filter((entry) => entry['status_code'] === 499)).toEqual([]);
  });

  it('cannot send an unwanted body forever', async () => {
    using connection = await openConnection(api.url);
    connection.send(`POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000000\r\n\r\n`);
    await connection.until(/^HTTP\/1\.1 401 /);
    const timer = setInterval(() => connection.send('x'), 50);
    try {
      await connection.ended;
    } finally {
      clearInterval(timer);
    }
  });
});

describe('a body', () => {
  const refusalOf = async (line: string, headers: string): Promise<string> => {
    using connection = await openConnection(api.url);
    connection.send(`${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer edit-key-of-the-tests-123\r\n`);
    connection.send(`${headers}Connection: close\r\n\r\n`);
    return await connection.ended;
  };

  it.each([
    ['POST /datasets/hub/import', 'Content-Type: application/json\r\n'],
    ['POST /datasets/upload', form],
  ])('that is missing is named: %s', async (line, type) => {
    const answer = await refusalOf(line, type);
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toContain('"detail":"The request must have a body."');
  });

  it('that is a compressed form is refused as such', async () => {
    const answer = await refusalOf(
      'POST /datasets/upload',
      `${form}Content-Encoding: gzip\r\nContent-Length: 0\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 415 /);
    expect(answer).toContain('"detail":"Content-Encoding is not supported."');
  });
});
