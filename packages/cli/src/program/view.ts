import type { Command } from "commander";
import { addNotes } from "./help.js";
import { addCredentialOptions, addEnvironmentOption, parsePort } from "./options.js";

/** `codex view`. */
export function addView(program: Command): void {
  const view = addCredentialOptions(
    addEnvironmentOption(
      program.command("view").description("Show the sessions of a running executor in the browser, or replay a file"),
    ).option("--executor <address>", "HOST:PORT, ws://, wss:// or unix:///PATH of the executor"),
  )
    .argument("[file]", "A recording (.cast), an audit log, or a thread: its file or its id")
    .option("--port <number>", "Port of the page (default: a free one)", parsePort)
    .option("--once", "End when the last page is closed");
  addNotes(view, {
    text: [
      "The address of the page is the first line of stdout. It opens once, in one browser; the page makes further links.",
    ],
    exitCodes: [
      ["0", "after Ctrl-C, or with --once when the last page was closed"],
      ["1", "an error"],
      ["2", "bad arguments"],
    ],
    examples: ["codex view --executor 127.0.0.1:7000", "codex view demo.cast"],
  }).action(async (file, options) => (await import("../commands/view.js")).runView(file, options));
}
