import { type Command, Option } from "commander";
import { type LeftProgram, parseLeftProgram } from "../left-program-id.js";
import { addNotes } from "./help.js";
import { addCredentialOptions, addEnvironmentOption, parseCount } from "./options.js";

/** `codex sessions`. */
export function addSessions(program: Command): void {
  const sessions = program
    .command("sessions")
    .description("List, read, end, record and picture the sessions of a running executor");
  // The older form without subcommands; options given here apply to those as well.
  const isOld = (option: Option) => option.hideHelp();
  for (const flags of [
    "--executor <address>",
    "--environment <id>",
    "--token-file <path>",
    "--ca-file <path>",
    "--json",
  ]) {
    sessions.addOption(isOld(new Option(flags)));
  }
  sessions
    .addOption(isOld(new Option("--kill <id>").argParser(parseCount)))
    .addOption(isOld(new Option("--read <id>").argParser(parseCount)))
    .action(async (options, command: Command) => {
      const [unknown] = command.args;
      if (unknown !== undefined) refuseCommand(command, unknown);
      await (await import("../commands/sessions.js")).runSessions(options);
    });
  const add = (name: string, description: string) =>
    addAddress(sessions.command(name).description(description), name !== "list");

  add("list", "List the sessions")
    .option("--json", "Print JSON")
    .action(async (_options, command) =>
      (await import("../commands/sessions.js")).runSessions(command.optsWithGlobals()),
    );
  add("read", "Print the output of a session")
    .option("--json", "Print JSON")
    .action(async (id, _options, command) =>
      (await import("../commands/sessions.js")).runSessions({ ...command.optsWithGlobals(), read: id }),
    );
  add("kill", "End a session with everything it started")
    .option("--json", "Print JSON")
    .action(async (id, _options, command) =>
      (await import("../commands/sessions.js")).runSessions({ ...command.optsWithGlobals(), kill: id }),
    );
  addNotes(
    add(
      "attach",
      "Take up a session at this terminal, until it ends or is left (~. at the beginning of a line)",
    ).option("--read-only", "Type nothing; Ctrl-C leaves", false),
    {
      text: [
        "Draws the screen of the session, gives it the size of this terminal, and passes keys. At the beginning of a line ~. leaves, ~^Z suspends this command, ~? lists the keys, and ~~ is one ~. The session keeps running when it is left, also when whoever started it goes.",
        "A program that codex run --detach left on an exec-server or at ssh:// is named by what that printed: its output is printed from the beginning. It is kept as long as the server keeps sessions without a client.",
        "Without a terminal, and with --read-only, it prints the output from its beginning, until the session ends or Ctrl-C.",
      ],
      exitCodes: [
        ["0-255", "exit code of the program, once it has ended"],
        ["0", "it was left"],
        ["1", "an error"],
        ["125", "it has ended, and its exit code was reported to whoever started it"],
      ],
    },
  ).action(async (id, _options, command) =>
    (await import("../commands/attach-session.js")).runAttachSession(id, command.optsWithGlobals()),
  );
  const record = add("record", "Write the output of a session as an asciicast, the format of asciinema")
    .option("-o, --output <file>", "File to write, which must not exist (default: stdout)")
    .option("--follow", "Continue until the session ends, or Ctrl-C", false);
  addNotes(record, { examples: ["codex sessions record 1000 --executor 127.0.0.1:7000 -o demo.cast"] }).action(
    async (id, _options, command) =>
      (await import("../commands/record-session.js")).runRecordSession(id, command.optsWithGlobals()),
  );
  const screenshot = add("screenshot", "Write what the terminal of a session shows now, as a picture or as text")
    .requiredOption("-o, --output <file>", "File to write: .svg, .png or .txt")
    .option("--title <text>", "Text of the title bar (default: the title that the program has set)");
  addNotes(screenshot, {
    text: [
      "A PNG needs the package @resvg/resvg-js beside this one, and fonts on this host; an SVG and text need nothing.",
    ],
    examples: ["codex sessions screenshot 1000 --executor 127.0.0.1:7000 -o vim.svg"],
  }).action(async (id, _options, command) =>
    (await import("../commands/screenshot-session.js")).runScreenshotSession(id, command.optsWithGlobals()),
  );
  // Set before subcommands are added, which inherit it.
  sessions.allowExcessArguments();
}

/** Commander takes an unknown subcommand for an argument when the command itself has an action. */
function refuseCommand(command: Command, name: string): never {
  const known = command.commands.map((child) => child.name()).join(", ");
  command.error(`error: unknown command '${name}'; it is one of ${known}`, { code: "commander.unknownCommand" });
}

function addAddress(command: Command, hasSession: boolean): Command {
  if (hasSession)
    command.argument(
      "<id>",
      "Session id, as printed by list",
      command.name() === "attach" ? parseAttached : parseCount,
    );
  return addCredentialOptions(
    addEnvironmentOption(command).option(
      "--executor <address>",
      "HOST:PORT, ws://, wss:// or unix:///PATH of the executor",
    ),
  );
}

/** A session of an executor, or what `run --detach` has printed for a program on an exec-server. */
function parseAttached(value: string): number | LeftProgram {
  return parseLeftProgram(value) ?? parseCount(value);
}
