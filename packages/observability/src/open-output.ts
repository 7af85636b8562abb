import type winston from 'winston';
import Transport from 'winston-transport';

/** Where the lines of a logger go. */
export interface Output {
  readonly transport: Transport;
  /** Resolves when every line so far is written or lost. */
  flush(): Promise<void>;
}

/** The output for a function that receives lines, or standard output without one. */
export function openOutput(write: ((line: string) => unknown) | undefined): Output {
  return write === undefined ? standardOutput() : new FunctionTransport(write);
}

/** Standard output. A reader that closes the pipe ends the log and not the process. */
function standardOutput(): Output {
  const { stdout } = process;
  if (stdout.listenerCount('error', ignore) === 0) stdout.on('error', ignore);
  return {
    transport: new FunctionTransport((line) => stdout.write(line)),
    // Lines are written in order: when an empty one is written, so are all before it.
    flush: () => new Promise((resolve) => stdout.write('', () => resolve())),
  };
}

function ignore(): void {}

/** Passes each line to a function, also while the promise of an earlier call is pending. */
class FunctionTransport extends Transport implements Output {
  readonly transport: Transport = this;
  readonly #write: (line: string) => unknown;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(write: (line: string) => unknown) {
    super();
    this.#write = write;
  }

  override log(info: winston.Logform.TransformableInfo, next: () => void): void {
    try {
      this.#track(this.#write(`${info[Symbol.for('message')]}\n`));
    } catch {
      // A line that cannot be written must not stop the work that it reports.
    }
    next();
  }

  #track(written: unknown): void {
    if (!(written instanceof Promise)) return;
    const settled: Promise<unknown> = written
      .catch(() => undefined)
      .finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }

  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
