import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { quoteWords } from "@codex/agent-terminal/text";
import type { Sandbox } from "@codex/executor-protocol";
import { describeEntry, PROTECTED_NAMES, type SandboxEntry } from "@codex/permissions";
import { type CommandSandbox, createCommandSandbox, type WrappedCommand } from "@codex/sandbox";
import { messageOf } from "@codex/values";
import { isProgram } from "./doctor/find-program.js";
import { CommandError, EXIT } from "./exit-codes.js";

/** Describes the effect of a sandbox on this host and the command line of the program in it, without running anything. @throws CommandError */
export async function explainSandbox(sandbox: Sandbox | null, argv: readonly string[], cwd: string): Promise<string> {
  const host = createCommandSandbox();
  if (sandbox === null) return "no sandbox: every path may be written, the network is open\n";
  const paths = explainPaths(sandbox, host);
  const lines = [...paths.lines, `network  ${paths.network === "enabled" ? "open" : "closed"}`];
  const words = argv.length === 0 ? [] : ["", ...(await explainCommand(sandbox, argv, cwd, host))];
  return `${[...lines, ...words].join("\n")}\n`;
}

function explainPaths(sandbox: Sandbox, host: CommandSandbox) {
  const { fileSystem, network } = attempt(() => host.resolve(sandbox));
  if (fileSystem === "unrestricted") return { lines: ["every path may be written"], network };
  const causes = listCauses(sandbox, host);
  const rows = fileSystem.entries.map(({ path, access, missing, pin }) => [
    NAMES[access],
    path,
    [
      ...(missing ? ["missing, and cannot be created"] : []),
      pin ? "keeps its name: something below it is closed" : whyOf(path, access, causes),
    ].join("; "),
  ]);
  if (!fileSystem.entries.some(({ path, access }) => path === "/" && access !== "deny")) {
    rows.unshift([
      fileSystem.minimal ? "read" : "hidden",
      fileSystem.minimal ? "programs and libraries" : "/",
      "nothing else is there",
    ]);
  }
  const width = Math.max(...rows.map(([, path]) => path!.length));
  return { lines: rows.map(([access, path, why]) => `${access!.padEnd(6)}  ${path!.padEnd(width)}  ${why}`), network };
}

const NAMES = { read: "read", write: "write", deny: "closed" } as const;

interface Cause {
  entry: SandboxEntry;
  paths: ReadonlySet<string>;
}

/** The effect of each entry, combined only with the writable ones: missing paths matter only below those. */
function listCauses(sandbox: Sandbox, host: CommandSandbox): Cause[] {
  const { permissions } = sandbox;
  if (permissions.type !== "managed" || permissions.file_system.type !== "restricted") return [];
  const { file_system: files } = permissions;
  const writes = files.entries.filter(({ access }) => access === "write");
  const resolveWith = (entries: SandboxEntry[]) => {
    const { fileSystem } = host.resolve({
      ...sandbox,
      permissions: { ...permissions, file_system: { ...files, entries } },
    });
    return fileSystem === "unrestricted" ? [] : fileSystem.entries;
  };
  const base = new Set(resolveWith(writes).map(({ path, access }) => `${access} ${path}`));
  return files.entries.map((entry) => {
    const alone = entry.access === "write" ? resolveWith([entry]) : resolveWith([...writes, entry]);
    const own = alone.filter(({ path, access, pin }) => {
      if (pin) return false;
      return entry.access === "write" ? access === "write" : !base.has(`${access} ${path}`);
    });
    return { entry, paths: new Set(own.map(({ path }) => path)) };
  });
}

function whyOf(path: string, access: "read" | "write" | "deny", causes: readonly Cause[]): string {
  const wanted = access === "deny" ? ["deny", "none"] : [access];
  const found = causes.filter(({ entry, paths }) => wanted.includes(entry.access) && paths.has(path));
  if (found.length > 0) return [...new Set(found.map(({ entry }) => describeEntry(entry)))].join(", ");
  return (PROTECTED_NAMES as readonly string[]).includes(basename(path))
    ? "what programs outside act on is never written"
    : "the git directory of what may be written";
}

/** The command line of the wrapper, including the options that it reads from a descriptor, without the environment. */
async function explainCommand(
  sandbox: Sandbox,
  argv: readonly string[],
  cwd: string,
  host: CommandSandbox,
): Promise<string[]> {
  const file = findProgram(argv[0]!, cwd);
  const command = { argv: [file, ...argv.slice(1)], file, cwd, env: {}, session: "new" } as const;
  let wrapped: WrappedCommand | undefined;
  try {
    wrapped = await host.wrap(command, sandbox);
    if (wrapped === undefined) return [quoteWords(argv)];
    const options = wrapped.descriptors[0] === undefined ? [] : readOptions(wrapped.descriptors[0]);
    return [quoteWords([wrapped.file, ...options, ...wrapped.args])];
  } catch (cause) {
    throw toCommandError(cause);
  } finally {
    wrapped?.detach();
    await wrapped?.release();
  }
}

const readOptions = (fd: number): string[] => readFileSync(`/proc/self/fd/${fd}`, "utf8").split("\0").filter(Boolean);

/** Looks up a program as a shell does. @throws CommandError */
function findProgram(name: string, cwd: string): string {
  const directories = name.includes("/") ? [""] : (process.env.PATH ?? "/usr/bin:/bin").split(":");
  const found = directories.map((directory) => resolve(cwd, directory, name)).find(isProgram);
  if (found === undefined) throw new CommandError(`program \`${name}\` was not found`, EXIT.notFound);
  return found;
}

function attempt<T>(run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw toCommandError(cause);
  }
}

const toCommandError = (cause: unknown) => new CommandError(messageOf(cause), EXIT.notStarted, { cause });
