/** The ids of the calls of a thread: some endpoints use ids again, and outputs refer to them. Takes the same time for each call. */
export class CallIds {
  readonly #used: Set<string>;
  /** The number that an id gets when it is used again. */
  readonly #next = new Map<string, number>();

  constructor(used: Iterable<string>) {
    this.#used = new Set(used);
  }

  /** The id itself when it is new, otherwise with the first free number. */
  take(id: string): string {
    let unique = id;
    let number = this.#next.get(id) ?? 2;
    while (this.#used.has(unique)) {
      unique = `${id}-${number}`;
      number += 1;
    }
    if (unique !== id) this.#next.set(id, number);
    this.#used.add(unique);
    return unique;
  }
}
