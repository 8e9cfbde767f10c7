import { Duplex } from "node:stream";

/** Two ends of a stream in this process: what is written to one is read from the other. */
export function duplexPair(): [Duplex, Duplex] {
  const ends: [End, End] = [new End(), new End()];
  ends[0].peer = ends[1];
  ends[1].peer = ends[0];
  return ends;
}

class End extends Duplex {
  peer!: End;
  #taken: (() => void) | undefined;

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    if (this.peer.destroyed || bytes.length === 0) return process.nextTick(done);
    if (this.peer.push(bytes)) process.nextTick(done);
    else this.peer.#taken = done;
  }

  override _final(done: () => void): void {
    if (!this.peer.destroyed) this.peer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
    if (!this.peer.destroyed && !this.peer.readableEnded)
      process.nextTick(() => this.peer.destroyed || this.peer.destroy());
    done(error);
  }
}
