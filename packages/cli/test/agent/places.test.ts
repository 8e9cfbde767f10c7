import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { customCall, functionCall, respond, say } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { CODEX_BINARY } from "../real-client/support.js";
import { codex, useCommand } from "../support.js";
import { eventsOf, setUpAgent, shell } from "./support.js";

const command = useCommand();

/** A directory that exists only where the commands run, over another one of this host. */
const FAR = "/mnt/codex-far-side";
const hasBubblewrap = spawnSync("bwrap", ["--dev-bind", "/", "/", "--tmpfs", "/mnt", "true"]).status === 0;

const patch = [
  "*** Begin Patch",
  "*** Add File: made/new.txt",
  "+two",
  "*** Update File: a.txt",
  "@@",
  "-one",
  "+uno",
  "*** Delete File: old.txt",
  "*** End Patch",
].join("\n");

const script = () => [
  respond(shell("c1", "cat AGENTS.md; exit 3")),
  respond(customCall("c2", "apply_patch", patch)),
  respond(shell("c3", "read line; echo got $line")),
  respond(functionCall("c4", "view_image", { path: "missing.png" })),
  respond(shell("c5", "cat a.txt made/new.txt; ls old.txt")),
  say("done"),
];

const FILES = { "AGENTS.md": "Be brief.\n", "a.txt": "one\n", "old.txt": "old\n" };

function makeFar(): string {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "codex-far-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(directory, name), text);
  mkdirSync(join(directory, ".git"));
  writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/main\n");
  return directory;
}

/** Starts a server that has the directory in its place, and returns the address that it prints. */
async function serve(directory: string, words: readonly string[], home: string): Promise<string> {
  const wrapped = ["--dev-bind", "/", "/", "--tmpfs", "/mnt", "--bind", directory, FAR, ...words];
  const server = spawn("bwrap", wrapped, {
    env: { ...process.env, CODEX_HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  onTestFinished(async () => {
    const closed = once(server, "close");
    process.kill(-(server.pid ?? 0), "SIGKILL");
    await closed;
  });
  const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
  return url;
}

const ours = (...words: string[]) => [process.execPath, codex, ...words];
const PLACES: [string, (() => string[]) | undefined][] = [
  ["an exec-server", () => ours("exec-server", "--listen", "ws://127.0.0.1:0")],
  ["an executor", () => ours("executor", "--listen", "ws://127.0.0.1:0")],
  [
    "the exec-server of Codex 0.169.0 (needs CODEX_BINARY)",
    CODEX_BINARY === undefined ? undefined : () => [CODEX_BINARY ?? "", "exec-server", "--listen", "ws://127.0.0.1:0"],
  ],
];

/** Events without what differs by place and time. */
const comparable = (stdout: Buffer, directory: string) =>
  eventsOf(stdout).map((event) => {
    const text = JSON.stringify(event)
      .replaceAll(directory, "<cwd>")
      .replace(/"(thread_id|environment)":"[^"]*"/g, '"$1":"…"');
    const { item, ...rest } = JSON.parse(text) as { item?: { command?: string } };
    return item?.command === undefined
      ? { item, ...rest }
      : { item: { ...item, command: item.command.split(" ").slice(1).join(" ") }, ...rest };
  });

async function runAt(args: (home: string) => Promise<string[]>, directory: string) {
  const setup = await setUpAgent(command, script(), { config: 'sandbox_mode = "danger-full-access"' });
  const places = await args(setup.home);
  const { code, stdout, stderr } = await setup.run([...places, "-C", directory, "-m", "gpt-5.5", "--json", "go"]);
  expect([code, stderr]).toEqual([0, ""]);
  const outputs = setup.endpoint.requests.at(-1)?.body.input ?? [];
  return {
    events: comparable(stdout, directory),
    instructions: setup.endpoint.requests[0]?.text.includes("Be brief."),
    outputs: outputs
      .filter(({ type }) => type.endsWith("_output"))
      .map(({ output }) =>
        String(output)
          .replaceAll(directory, "<cwd>")
          .replace(/Wall time: [\d.]+|Chunk ID: \w+/g, "…"),
      ),
    repository: readdirSync(setup.repository),
  };
}

const filesOf = (directory: string) => ({
  names: readdirSync(directory).sort(),
  texts: ["a.txt", "made/new.txt"].map((name) => readFileSync(join(directory, name), "utf8")),
});

describe.skipIf(!hasBubblewrap)("the same conversation elsewhere as here (needs bwrap)", () => {
  it.each(PLACES.filter((place): place is [string, () => string[]] => place[1] !== undefined))(
    "on %s: the same events, the same files, and nothing on the disk of the agent",
    async (_name, words) => {
      const here = makeFar();
      const local = await runAt(async () => [], here);
      const far = makeFar();
      const remote = await runAt(async (home) => ["--executor", await serve(far, words(), home)], FAR);
      expect(remote).toEqual(local);
      expect(remote.repository).toEqual([".git"]);
      expect(filesOf(far)).toEqual(filesOf(here));
      expect(filesOf(far)).toEqual({ names: [".git", "AGENTS.md", "a.txt", "made"], texts: ["uno\n", "two\n"] });
      expect(existsSync(FAR)).toBe(false);
    },
  );

  it.skipIf(CODEX_BINARY !== undefined)("on the exec-server of Codex 0.169.0 (needs CODEX_BINARY)", (context) => {
    context.skip("CODEX_BINARY is not set");
  });
});
