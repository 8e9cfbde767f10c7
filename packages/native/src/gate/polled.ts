import type { KernelCalls } from "./kernel-calls.js";

/** `struct pollfd`. */
const ENTRY_BYTES = 8;
const POLLIN = 1;

/** Descriptors that one thread waits for. */
export class Polled {
  readonly #calls: KernelCalls;
  readonly #fds: number[] = [];
  #entries = Buffer.alloc(0);

  constructor(calls: KernelCalls) {
    this.#calls = calls;
  }

  add(fd: number): void {
    this.#fds.push(fd);
    this.#render();
  }

  remove(fd: number): void {
    this.#fds.splice(this.#fds.indexOf(fd), 1);
    this.#render();
  }

  /** Those that can be read, or have ended, after so many milliseconds at the latest. */
  wait(milliseconds: number): number[] {
    const count = this.#calls.poll(this.#entries, this.#fds.length, milliseconds);
    if (count <= 0) return [];
    return this.#fds.filter((_, index) => this.#entries.readInt16LE(index * ENTRY_BYTES + 6) !== 0);
  }

  #render(): void {
    this.#entries = Buffer.alloc(this.#fds.length * ENTRY_BYTES);
    for (const [index, fd] of this.#fds.entries()) {
      this.#entries.writeInt32LE(fd, index * ENTRY_BYTES);
      this.#entries.writeInt16LE(POLLIN, index * ENTRY_BYTES + 4);
    }
  }
}
