import { MAX_HELD_BYTES, MAX_HELD_EVENTS } from "../limits.js";
import type { Catchup, Exit, NumberedEvent, ProcessEvent } from "./process-event.js";

/** Puts the events of one process in order: drops what was there before, and holds what came too early. */
export class EventOrder {
  readonly #held = new Map<number, NumberedEvent>();
  #heldBytes = 0;
  #position = 0;
  #exitSeen = false;
  #closedSeen = false;
  /** Highest `seq` that was announced by an event, held or dropped. */
  #announced = 0;

  /** `seq` of the last event that was passed on; 0 before the first. */
  get position(): number {
    return this.#position;
  }

  /** An event was announced that cannot be passed on because an earlier one is missing. */
  get hasGap(): boolean {
    return !this.#closedSeen && this.#announced > this.#position;
  }

  /** The next event is here already: reading it again is not necessary. */
  isHeld(seq: number): boolean {
    return this.#held.has(seq);
  }

  /** The events that are now in order. */
  push(event: NumberedEvent): ProcessEvent[] {
    if (event.seq <= this.#position || this.#closedSeen) return [];
    this.#announced = Math.max(this.#announced, event.seq);
    if (event.seq === this.#position + 1) return [...this.#take(event), ...this.#takeHeld()];
    this.#hold(event);
    return [];
  }

  /** Takes over what `process/read` tells; what the server does not have any more becomes a gap. */
  catchUp({ chunks, nextSeq, closed, exit }: Catchup): ProcessEvent[] {
    if (this.#closedSeen) return [];
    const last = nextSeq - 1;
    const known = new Map([...this.#held].filter(([seq]) => seq <= last));
    for (const chunk of chunks) known.set(chunk.seq, chunk);
    if (closed && last > this.#position) known.set(last, { kind: "closed", seq: last });
    const events = [...known.values()].filter(({ seq }) => seq > this.#position).sort((a, b) => a.seq - b.seq);
    const told = this.#exitSeen || events.some(({ kind }) => kind === "exited");
    const passed = this.#takeAll(events, last, told ? undefined : exit);
    for (const seq of [...this.#held.keys()]) if (seq <= this.#position) this.#release(seq);
    passed.push(...this.#takeHeld());
    return passed;
  }

  /**
   * Events up to `last` with numbers missing between them. Those are chunks that were evicted, oldest first, and the
   * exit, which `process/read` tells without its number: it is taken for the last missing one.
   */
  #takeAll(events: NumberedEvent[], last: number, exit: Exit | undefined): ProcessEvent[] {
    const passed: ProcessEvent[] = [];
    const exitSeq = exit === undefined ? undefined : findLastMissing(events, this.#position, last);
    const skipTo = (seq: number) => {
      const missing = seq - this.#position - 1;
      if (missing <= 0) return;
      const hasExit = exit !== undefined && exitSeq !== undefined && exitSeq > this.#position && exitSeq < seq;
      const chunks = missing - (hasExit ? 1 : 0);
      if (chunks > 0) passed.push({ kind: "gap", chunks });
      if (hasExit) passed.push(...this.#take({ kind: "exited", seq: exitSeq, ...exit }));
      this.#position = seq - 1;
    };
    for (const event of events) {
      skipTo(event.seq);
      if (event.kind === "closed") passed.push(...this.#takeExit(exit));
      passed.push(...this.#take(event));
    }
    skipTo(last + 1);
    passed.push(...this.#takeExit(exit));
    return passed;
  }

  /** The exit is known though no number is left for it: the event itself, when it comes, is a repeat. */
  #takeExit(exit: Exit | undefined): ProcessEvent[] {
    if (exit === undefined || this.#exitSeen) return [];
    this.#exitSeen = true;
    return [{ kind: "exited", seq: this.#position, ...exit }];
  }

  #take(event: NumberedEvent): ProcessEvent[] {
    this.#position = Math.max(this.#position, event.seq);
    if (event.kind === "exited") {
      if (this.#exitSeen) return [];
      this.#exitSeen = true;
    }
    if (event.kind === "closed") {
      this.#closedSeen = true;
      this.#held.clear();
      this.#heldBytes = 0;
    }
    return [event];
  }

  #takeHeld(): ProcessEvent[] {
    const passed: ProcessEvent[] = [];
    for (;;) {
      const event = this.#held.get(this.#position + 1);
      if (event === undefined) return passed;
      this.#release(event.seq);
      passed.push(...this.#take(event));
    }
  }

  /** Over the bound the event is let go: the gap before it is read from the server, and it comes along. */
  #hold(event: NumberedEvent): void {
    if (this.#held.has(event.seq)) return;
    const bytes = sizeOf(event);
    if (this.#held.size >= MAX_HELD_EVENTS || this.#heldBytes + bytes > MAX_HELD_BYTES) return;
    this.#held.set(event.seq, event);
    this.#heldBytes += bytes;
  }

  #release(seq: number): void {
    const event = this.#held.get(seq);
    if (event === undefined) return;
    this.#held.delete(seq);
    this.#heldBytes -= sizeOf(event);
  }
}

const sizeOf = (event: NumberedEvent): number => (event.kind === "output" ? event.bytes.length : 0);

/** The highest number of `(position, last]` that no event has. */
function findLastMissing(events: readonly NumberedEvent[], position: number, last: number): number | undefined {
  let candidate = last;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    if (events[index]!.seq < candidate) return candidate;
    candidate = events[index]!.seq - 1;
  }
  return candidate > position ? candidate : undefined;
}
