import type { Command } from "commander";
import { addNotes } from "./help.js";
import { parseCount } from "./options.js";

/** `codex threads`. */
export function addThreads(program: Command): void {
  const threads = program.command("threads").description("List the threads of agents, and show one");
  threads
    .command("list")
    .description("List the threads of this directory, the one that was written last first")
    .option("--all", "Those of all directories", false)
    .option("--limit <number>", "At most so many", parseCount, 50)
    .option("--json", "Print JSON", false)
    .action(async (options) => (await import("../commands/threads.js")).runThreadsList(options));
  addNotes(
    threads
      .command("show")
      .description("Show its turns: tokens and time of each response and call, where calls ran and why, what was cut")
      .argument("<thread>", "Its id, as list prints it")
      .option("--json", "Print JSON", false),
    { text: ["Threads of Codex are shown too, as far as their files tell."] },
  ).action(async (id: string, options) => (await import("../commands/threads.js")).runThreadsShow(id, options));
}
