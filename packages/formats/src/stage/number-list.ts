/** Numbers one after another, in eight bytes each. */
export class NumberList {
  #numbers: Float64Array = new Float64Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const longer = new Float64Array(2 * this.#length);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  /** The number at an index; 0 if there is none. */
  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }
}
