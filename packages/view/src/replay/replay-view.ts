import { Board } from "../live/board.js";
import { type ServedView, type ServeOptions, serveView, type ViewSink, type ViewSource } from "../serve-view.js";
import type { FromServer } from "../wire/port.js";
import type { Replay } from "./read-replay.js";

/** Serves a recording, an audit log or a thread, read-only. @throws Error naming the address */
export const replayView = (replay: Replay, options: ServeOptions = {}): Promise<ServedView> =>
  serveView((sink) => new ReplaySource(replay, sink), { ...options, readOnly: true });

class ReplaySource implements ViewSource {
  readonly #replay: Replay;
  readonly #sink: ViewSink;
  readonly #board: Board;

  constructor(replay: Replay, sink: ViewSink) {
    this.#replay = replay;
    this.#sink = sink;
    this.#board = new Board(sink.publisher);
  }

  start(): void {
    for (const entity of this.#replay.entities) this.#board.set(entity);
    this.#board.flush();
  }

  restarted(): void {
    this.#board.publishAll();
  }

  receive(message: FromServer): void {
    if (message.type === "read") {
      this.#sink.send({ type: "output", request: message.request, part: undefined });
    } else if (message.type === "recording") {
      this.#sink.send({
        type: "recording",
        request: message.request,
        text: this.#replay.recordings.get(message.session),
      });
    } else if (message.type === "action") {
      const text = "This is a replay: nothing can be answered.";
      this.#sink.send({ type: "notice", viewer: message.viewer, text, isProblem: true });
    }
  }

  close(): void {}
}
