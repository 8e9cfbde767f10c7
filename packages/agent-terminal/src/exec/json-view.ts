import { type ExecJsonOptions, renderExecJson } from "./exec-json.js";
import type { OutputSink } from "./output-sink.js";
import type { TurnView } from "./turn-view.js";

/** A line of JSON for each event, as the TypeScript SDK reads them. */
export function createJsonView(output: OutputSink, options: ExecJsonOptions = {}): TurnView {
  return {
    async show(event) {
      for (const line of renderExecJson(event, options)) await output.write(`${JSON.stringify(line)}\n`);
    },
  };
}
