import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { customCall, functionCall, respond, say } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { NO_BUBBLEWRAP } from "../../../sandbox/test/support.js";
import { finish, useCommand } from "../support.js";
import { setUpAgent } from "./support.js";

const command = useCommand();
const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch";

/** Appends to a file what the process starts, reads of its configuration, and asks; loaded with `--require`. */
const HOOK = `
const files = require("node:fs");
const { appendFileSync } = files;
const processes = require("node:child_process");
const http = require("node:http");
const module_ = require("node:module");
const note = (line) => appendFileSync(process.env.STEPS, line + "\\n");
const watch = (owner, name, describe) => {
  const original = owner[name];
  owner[name] = function (...args) {
    const line = describe(...args);
    if (line !== undefined) note(line);
    return original.apply(this, args);
  };
};
const isSandbox = (file) => String(file).endsWith("/bwrap");
watch(processes, "execFile", (file, args) => (isSandbox(file) ? "options of bwrap" : undefined));
watch(processes, "spawn", (file) => (isSandbox(file) ? "bwrap" : undefined));
watch(files, "openSync", (file) => (String(file).endsWith("/config.toml") ? "configuration" : undefined));
const { _load: load } = module_;
module_._load = function (name, ...rest) {
  const loaded = load.call(this, name, ...rest);
  if (name === "@vscode/tree-sitter-wasm") {
    note("parser");
    watch(loaded.Parser.prototype, "parse", (script) => "parse " + script);
  }
  return loaded;
};
watch(http, "request", () => "request");
`;

describe.skipIf(NO_BUBBLEWRAP !== undefined)(
  `the start of codex exec${NO_BUBBLEWRAP === undefined ? "" : ` (${NO_BUBBLEWRAP})`}`,
  () => {
    /** What `codex exec` did, in order. */
    async function followSteps(
      script: Parameters<typeof setUpAgent>[1],
      configured: { config: string },
      flags: string[] = [],
    ) {
      const { env, repository, home } = await setUpAgent(command, script, configured);
      const directory = mkdtempSync(join(tmpdir(), "codex-steps-"));
      onTestFinished(() => rmSync(directory, { recursive: true }));
      const [hook, steps] = [join(directory, "hook.cjs"), join(directory, "steps")];
      writeFileSync(hook, HOOK);
      writeFileSync(steps, "");
      const child = command.startIn(repository, ["exec", ...flags, "go"], {
        ...env,
        STEPS: steps,
        NODE_OPTIONS: `--require ${JSON.stringify(hook)}`,
      });
      child.stdin.end();
      const { code, stderr } = await finish(child);
      return { code, stderr, home, repository, steps: readFileSync(steps, "utf8").trimEnd().split("\n") };
    }

    it("tries the sandbox once, while it reads its configuration, and loads the parser while the model answers", async () => {
      const script = [respond(customCall("c1", "apply_patch", patch)), say("done")];
      const { code, repository, steps } = await followSteps(script, { config: 'sandbox_mode = "workspace-write"' });
      expect(code).toBe(0);
      expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("one\n");
      const isPrelude = (step: string) => step === "configuration" || step === "options of bwrap";
      const after = steps.filter((step) => !isPrelude(step) && !step.startsWith("parse "));
      // On a busy machine the sandbox of a patch, which reserves names and so ends soon, is started again for its next step.
      expect(after.filter((step, at) => at < 2 || step !== after[at - 1])).toEqual([
        "bwrap", // the trial run
        "request",
        "parser", // of commands
        "bwrap", // of the patch
        "request",
      ]);
      expect(steps.filter((step) => step === "options of bwrap")).toHaveLength(1);
      // The order of what happens at the same time is open.
      expect(steps.indexOf("bwrap")).toBeLessThan(steps.lastIndexOf("configuration"));
      expect(steps.findLastIndex(isPrelude)).toBeLessThan(steps.indexOf("request"));
    });

    it("does not try the sandbox where a flag says that there is none", async () => {
      const script = [
        respond(functionCall("c1", "exec_command", { cmd: "echo ran > a.txt", login: false })),
        say("done"),
      ];
      const flags = ["--sandbox", "danger-full-access"];
      const { code, repository, steps } = await followSteps(
        script,
        { config: 'sandbox_mode = "workspace-write"' },
        flags,
      );
      expect(code).toBe(0);
      expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("ran\n");
      expect(steps.filter((step) => step !== "configuration")).toEqual([
        "request",
        "parser",
        expect.stringMatching(/^parse (?!echo)/), // so that V8 has compiled the grammar when a command comes
        "parse echo ran > a.txt",
        "request",
      ]);
    });

    it("asks nothing when the configuration is wrong", async () => {
      const { code, stderr, steps } = await followSteps([], { config: 'sandbox_mode = "nonsense"' });
      expect(code).toBe(1);
      expect(stderr.toString()).toContain("nonsense");
      expect(steps.filter((step) => step !== "configuration").sort()).toEqual(["bwrap", "options of bwrap"]);
    });
  },
);
