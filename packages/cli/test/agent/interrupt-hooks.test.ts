// Hooks of an interrupted turn: they are told of it, and can neither prevent it nor hold it up. As recorded from Codex 0.169.0, and beside it
// where `CODEX_BINARY` names it.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { functionCall, respond, say } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { CODEX_BINARY } from "../real-client/support.js";
import { codex, useCommand } from "../support.js";
import { setUpAgent } from "./support.js";

const command = useCommand();

/** What each does once it has kept its input. */
const BASH: Readonly<Record<string, string>> = {
  silent: "true",
  fails: "exit 1",
  blocks: "echo no >&2; exit 2",
  "cannot be executed": "exit 126",
  "is not found": "exit 127",
  "ends itself": "kill -9 $$",
  "prints garbage": "echo '{garbage'",
  "prints a list": "echo '[]'",
  floods: "head -c 3000000 /dev/zero | tr '\\0' x",
  "floods stderr": "head -c 3000000 /dev/zero | tr '\\0' x >&2",
  hangs: "sleep 60",
  "ignores the end": "trap '' TERM; sleep 60",
  "leaves a child": "sleep 61 & exit 0",
};
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const PYTHON: Readonly<Record<string, string>> = !hasPython
  ? {}
  : {
      "tells something": 'print(\'{"systemMessage":"told"}\')',
      "says to stop": 'print(\'{"continue":false,"stopReason":"stop"}\')',
      "says to go on": 'print(\'{"decision":"block","reason":"go on"}\')',
      "adds context": 'print(\'{"hookSpecificOutput":{"hookEventName":"Interrupt","additionalContext":"c"}}\')',
      "names another event": 'print(\'{"hookSpecificOutput":{"hookEventName":"Stop"}}\')',
      "closes its output": "sys.stdout.close()",
      throws: 'raise SystemExit("broken")',
    };

/** One program for each, which keeps what it was given in a file of its name. */
function writeHooks(directory: string): string {
  const kept = join(directory, "kept");
  mkdirSync(kept, { recursive: true });
  const scripts = [
    ...Object.entries(BASH).map(
      ([name, body]) => [name, `#!/bin/bash\ncat > '${join(kept, name)}'\n${body}\n`] as const,
    ),
    ...Object.entries(PYTHON).map(
      ([name, body]) =>
        [
          name,
          `#!/usr/bin/env python3\nimport sys\nopen(${JSON.stringify(join(kept, name))}, "w").write(sys.stdin.read())\n${body}\n`,
        ] as const,
    ),
  ];
  const hooks = scripts.map(([name, text], at) => {
    const file = join(directory, `hook-${at}`);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
    return { type: "command", command: `'${file}'`, statusMessage: name };
  });
  return JSON.stringify({ hooks: { Interrupt: [{ hooks }] } });
}

interface Ended {
  code: number | null;
  told: ReadonlyMap<string, Record<string, unknown>>;
  output: string;
}

/** A turn that is interrupted while its command runs. */
async function interrupt(argv: readonly string[]): Promise<Ended> {
  const began = "began";
  const call = functionCall("c1", "exec_command", { cmd: `touch ${began}; sleep 60`, login: false });
  const { home, repository, env } = await setUpAgent(command, [respond(call), say("done")], {
    config: 'sandbox_mode = "danger-full-access"\napproval_policy = "never"',
  });
  writeFileSync(join(home, "hooks.json"), writeHooks(home));
  const [file = "", ...args] = argv;
  const flags = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "-C", repository, "go"];
  const child = spawn(file, [...args, ...flags], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes: Buffer) => (output += bytes.toString()));
  await expect.poll(() => existsSync(join(repository, began)), { timeout: 20_000 }).toBe(true);
  child.kill("SIGINT");
  const [code] = (await once(child, "exit")) as [number | null];
  const kept = join(home, "kept");
  const told = new Map(
    readdirSync(kept).map((name) => [
      name,
      JSON.parse(readFileSync(join(kept, name), "utf8")) as Record<string, unknown>,
    ]),
  );
  return { code, told, output };
}

const NAMES = [...Object.keys(BASH), ...Object.keys(PYTHON)].sort();
const MEMBERS = ["cwd", "hook_event_name", "model", "permission_mode", "session_id", "transcript_path", "turn_id"];

describe(`hooks of an interrupted turn${hasPython ? "" : " (python3 is missing: those of bash alone)"}`, () => {
  it("are all told of it, and none prevents it", { timeout: 60_000 }, async () => {
    const { code, told, output } = await interrupt([process.execPath, codex]);
    expect(code).toBe(1);
    expect(output).toContain("the turn was interrupted by SIGINT");
    expect([...told.keys()].sort()).toEqual(NAMES);
    for (const [, input] of told) {
      expect(Object.keys(input).sort()).toEqual(MEMBERS);
      expect(input).toMatchObject({ hook_event_name: "Interrupt", permission_mode: "bypassPermissions" });
    }
    // What a hook says is told, and changes nothing.
    if (hasPython) expect(output).toContain("told");
  });

  it.skipIf(CODEX_BINARY === undefined)(
    "are told the same by Codex (needs CODEX_BINARY)",
    { timeout: 60_000 },
    async () => {
      const { code, told } = await interrupt([CODEX_BINARY!]);
      expect(code).toBe(1);
      expect([...told.keys()].sort()).toEqual(NAMES);
      for (const [, input] of told) expect(Object.keys(input).sort()).toEqual(MEMBERS);
    },
  );
});
