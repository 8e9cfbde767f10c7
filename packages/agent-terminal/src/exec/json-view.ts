import { stringifyWellFormed } from "@codex/values";
import { type ExecJsonOptions, renderExecJson } from "./exec-json.js";
import type { OutputSink } from "./output-sink.js";
import type { TurnView } from "./turn-view.js";

/** Creates a view that writes events as JSON lines, in the format of the TypeScript SDK. */
export function createJsonView(output: OutputSink, options: ExecJsonOptions = {}): TurnView {
  return {
    async show(event) {
      for (const line of renderExecJson(event, options)) await output.write(`${stringifyWellFormed(line)}\n`);
    },
  };
}
