import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

/** Writes and reads Parquet files with DuckDB, a second implementation of the format. */
export class DuckDb implements AsyncDisposable {
  readonly #folder: string;
  readonly #connection: DuckDBConnection;

  private constructor(folder: string, connection: DuckDBConnection) {
    this.#folder = folder;
    this.#connection = connection;
  }

  static async open(): Promise<DuckDb> {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    await connection.run("set timezone = 'UTC'");
    return new DuckDb(await mkdtemp(join(tmpdir(), 'duckdb-')), connection);
  }

  /** The file of a query's rows. @param options of COPY, such as `parquet_version v2` */
  async write(query: string, options = ''): Promise<Uint8Array> {
    const path = join(this.#folder, 'file.parquet');
    await this.#connection.run(`copy (${query}) to '${path}' (format parquet${options && `, ${options}`})`);
    return new Uint8Array(await readFile(path));
  }

  /** What DuckDB reads from the file that it wrote last; `file` is its rows. */
  async query(query: string): Promise<Array<Record<string, unknown>>> {
    const path = join(this.#folder, 'file.parquet');
    const reader = await this.#connection.runAndReadAll(`with file as (from '${path}') ${query}`);
    return reader.getRowObjectsJson();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.closeSync();
    await rm(this.#folder, { recursive: true });
  }
}
