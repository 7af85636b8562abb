/** Disposes everything that it holds, the last first. Node has `AsyncDisposableStack` only from version 24 on. */
export class CleanUp implements AsyncDisposable {
  #held: AsyncDisposable[] = [];

  use<T extends AsyncDisposable>(resource: T): T {
    this.#held.push(resource);
    return resource;
  }

  defer(dispose: () => Promise<void>): void {
    this.#held.push({ [Symbol.asyncDispose]: dispose });
  }

  /** Hands everything over to a value, which disposes of it; disposing this does nothing then. */
  moveTo<T extends object>(value: T): T & AsyncDisposable {
    const other = new CleanUp();
    other.#held = this.#held;
    this.#held = [];
    return { ...value, [Symbol.asyncDispose]: () => other[Symbol.asyncDispose]() };
  }

  /** @throws the error of a resource, after all others are disposed of */
  async [Symbol.asyncDispose](): Promise<void> {
    const last = this.#held.pop();
    if (last === undefined) return;
    try {
      await last[Symbol.asyncDispose]();
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }
}
