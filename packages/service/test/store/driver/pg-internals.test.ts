import { Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancelQuery, createClient } from '../../../src/store/postgres/client.ts';
import { containParserErrors, internalsOf, socketOf } from '../../../src/store/postgres/pg-internals.ts';
import { createTestDatabase, type TestDatabase } from '../template-db.ts';

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  client = createClient({ url: database.url });
  client.on('error', () => undefined);
  await client.connect();
});
afterEach(async () => {
  await client.end();
});
afterAll(async () => {
  await database.drop();
});

const ownProcess = async (): Promise<unknown> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;

describe('what pg does not publish, on the pinned version', () => {
  it('connection.stream is the socket of the connection', async () => {
    const socket = socketOf(client);
    expect(socket).toBeInstanceOf(Socket);
    const received = socket.bytesRead;
    await client.query("SELECT repeat('x', 1000)");
    expect(socket.bytesRead).toBeGreaterThan(received + 1000);
  });

  it('processID, secretKey, host and port cancel the query', async () => {
    const { host, port, processID, secretKey } = internalsOf(client);
    expect(processID).toBe(await ownProcess());
    expect({ host, port }).toEqual({ host: client.host, port: client.port });
    expect(secretKey).toEqual(expect.any(Number));
    const query = client.query('SELECT pg_sleep(60)').catch((error: unknown) => error);
    await expect
      .poll(async () => {
        await cancelQuery(client);
        return await Promise.race([query, null]);
      })
      .toMatchObject({ code: '57014' });
  });

  it('readyForQuery is false while a query is running', async () => {
    expect(internalsOf(client).readyForQuery).toBe(true);
    const query = client.query('SELECT 1');
    expect(internalsOf(client).readyForQuery).toBe(false);
    await query;
    expect(internalsOf(client).readyForQuery).toBe(true);
  });

  it('data listeners of the socket are the parser, whose errors end the connection', async () => {
    const failing = (): never => {
      throw new Error('The parser has failed.');
    };
    const socket = socketOf(client);
    expect(socket.listenerCount('data')).toBe(1);
    socket.on('data', failing);
    containParserErrors(client);
    expect(socket.listeners('data')).not.toContain(failing);
    expect(socket.listenerCount('data')).toBe(2);
    await expect(client.query('SELECT 1').then(() => client.query('SELECT 2'))).rejects.toThrow(
      /parser has failed|Connection terminated|not queryable/,
    );
  });

  it('saslSession and the events of the protocol show the course of the authentication', async () => {
    const seen: [event: string, lacksProof: boolean][] = [];
    const other = new pg.Client({ connectionString: database.url });
    const events = internalsOf(other).connection;
    for (const event of [
      'authenticationSASL',
      'authenticationSASLFinal',
      'authenticationOk',
      'readyForQuery',
    ]) {
      const note = (): void => void seen.push([event, internalsOf(other).saslSession != null]);
      events.prependListener(event, note);
    }
    await other.connect();
    await other.end();
    expect(seen).toEqual([
      ['authenticationSASL', false],
      ['authenticationSASLFinal', true],
      ['authenticationOk', false],
      ['readyForQuery', false],
    ]);
  });

  it('events for other methods exist, so that a listener before them can refuse', async () => {
    const other = new pg.Client({ connectionString: database.url });
    const connection = internalsOf(other).connection as unknown as NodeJS.EventEmitter;
    // `pg` attaches its own listeners when it connects.
    const connected = other.connect();
    for (const event of ['authenticationCleartextPassword', 'authenticationMD5Password', 'readyForQuery']) {
      expect(connection.listenerCount(event)).toBeGreaterThan(0);
    }
    await connected;
    await other.end();
  });
});
