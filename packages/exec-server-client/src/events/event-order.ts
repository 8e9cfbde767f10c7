import { defined } from "@codex/values";
import { MAX_HELD_BYTES, MAX_HELD_EVENTS } from "../limits.js";
import type { Catchup, Exit, NumberedEvent, ProcessEvent } from "./process-event.js";

/** Orders the events of one process: drops repeats and holds events that arrive early. */
export class EventOrder {
  readonly #held = new Map<number, NumberedEvent>();
  #heldBytes = 0;
  #position = 0;
  #exitSeen = false;
  #closedSeen = false;
  /** Highest `seq` that has arrived, whether the event was held or dropped. */
  #announced = 0;

  /** `seq` of the last event that was delivered; 0 before the first. */
  get position(): number {
    return this.#position;
  }

  /** An event has arrived that cannot be delivered, because an earlier one is missing. */
  get hasGap(): boolean {
    return !this.#closedSeen && this.#announced > this.#position;
  }

  /** Whether the event has arrived and is held, so that it need not be read. */
  isHeld(seq: number): boolean {
    return this.#held.has(seq);
  }

  /** Adds an event; returns the events that are now in order. */
  push(event: NumberedEvent): ProcessEvent[] {
    if (event.seq <= this.#position || this.#closedSeen) return [];
    this.#announced = Math.max(this.#announced, event.seq);
    if (event.seq === this.#position + 1) return [...this.#take(event), ...this.#takeHeld()];
    this.#hold(event);
    return [];
  }

  /** Adds the result of `process/read`; events that the server no longer has become a gap. */
  catchUp({ chunks, nextSeq, closed, exit }: Catchup): ProcessEvent[] {
    if (this.#closedSeen) return [];
    const last = nextSeq - 1;
    const known = new Map([...this.#held].filter(([seq]) => seq <= last));
    for (const chunk of chunks) known.set(chunk.seq, chunk);
    if (closed && last > this.#position) known.set(last, { kind: "closed", seq: last });
    const events = [...known.values()].filter(({ seq }) => seq > this.#position).sort((a, b) => a.seq - b.seq);
    const isReported = this.#exitSeen || events.some(({ kind }) => kind === "exited");
    const passed = this.#takeAll(events, last, isReported ? undefined : exit);
    for (const seq of [...this.#held.keys()]) if (seq <= this.#position) this.#release(seq);
    passed.push(...this.#takeHeld());
    return passed;
  }

  /**
   * Takes events up to `last`. Missing numbers are evicted chunks, oldest first, and the exit, which `process/read` reports
   * without its number: it is assumed to be the last missing one.
   */
  #takeAll(events: NumberedEvent[], last: number, exit: Exit | undefined): ProcessEvent[] {
    const passed: ProcessEvent[] = [];
    const exitSeq = exit === undefined ? undefined : findLastMissing(events, this.#position, last);
    const chunkBytes = findUsualSize(events);
    const skipTo = (seq: number, endsAt?: number) => {
      const missing = seq - this.#position - 1;
      if (missing <= 0) return;
      const hasExit = exit !== undefined && exitSeq !== undefined && exitSeq > this.#position && exitSeq < seq;
      const chunks = missing - (hasExit ? 1 : 0);
      if (chunks > 0) passed.push({ kind: "gap", chunks, chunkBytes, ...defined({ endsAt }) });
      if (hasExit) passed.push(...this.#take({ kind: "exited", seq: exitSeq, ...exit }));
      this.#position = seq - 1;
    };
    for (const event of events) {
      skipTo(event.seq, event.kind === "output" ? event.bytesBefore : undefined);
      if (event.kind === "closed") passed.push(...this.#takeExit(exit));
      passed.push(...this.#take(event));
    }
    skipTo(last + 1);
    passed.push(...this.#takeExit(exit));
    return passed;
  }

  /** Reports the exit although its number is unknown; its event, if it arrives, is then dropped as a repeat. */
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

  /** Over a limit the event is dropped: it is read again with the gap before it. */
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

/** The usual size of a chunk, bytes: the largest where most have it, as of a program that fills its pipe, else the mean. 0 without any. */
function findUsualSize(events: readonly NumberedEvent[]): number {
  const sizes = events.filter(({ kind }) => kind === "output").map(sizeOf);
  if (sizes.length === 0) return 0;
  const most = sizes.reduce((a, b) => Math.max(a, b));
  const full = sizes.filter((size) => size === most).length;
  return 2 * full > sizes.length ? most : Math.round(sizes.reduce((a, b) => a + b) / sizes.length);
}

/** The highest number in `(position, last]` without an event. */
function findLastMissing(events: readonly NumberedEvent[], position: number, last: number): number | undefined {
  let candidate = last;
  for (let index = events.length - 1; index >= 0; index -= 1) {
    if (events[index]!.seq < candidate) return candidate;
    candidate = events[index]!.seq - 1;
  }
  return candidate > position ? candidate : undefined;
}
