import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { functionCall, respond, type Script, say, startScriptedEndpoint } from "@codex/agent/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
const shell = (id: string, cmd: string) => functionCall(id, "exec_command", { cmd, login: false });
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";
const PASTE = (text: string) => `\u001b[200~${text}\u001b[201~`;
const FREE = 'approval_policy = "never"\nsandbox_mode = "danger-full-access"';

/** A home whose model plays a script, and a repository. */
async function setUp(script: Script, config = FREE) {
  const endpoint = await startScriptedEndpoint(script);
  const root = mkdtempSync(join(realpathSync(tmpdir()), "codex talk-"));
  const [home, repository] = [join(root, "home"), join(root, "repository")];
  for (const directory of [home, repository]) mkdirSync(directory);
  execFileSync("git", ["init", "-q", repository]);
  writeFileSync(
    join(home, "config.toml"),
    `model_provider = "mine"\nmodel = "test-model"\nallow_login_shell = false\n${config}\n[model_providers.mine]\nname = "Mine"\nbase_url = "${endpoint.url}"\n`,
  );
  const terminals: Terminal[] = [];
  onTestFinished(async () => {
    for (const terminal of terminals) {
      terminal.kill();
      await terminal.ended;
    }
    await endpoint.close();
    rmSync(root, { recursive: true, force: true });
  });
  const env = { CODEX_HOME: home, HOME: root, TERM: "xterm-256color", NO_COLOR: "1" };
  const open = (args: readonly string[] = [], more: Record<string, string> = {}) => {
    const terminal = new Terminal(process.execPath, [codex, ...args], {
      cwd: repository,
      env: { ...env, ...more },
      size: { cols: 100, rows: 30 },
    });
    terminals.push(terminal);
    return terminal;
  };
  /** What the person last said to the model. */
  const sent = (index: number) => {
    const content = endpoint.requests[index]?.body.input.at(-1)?.content as { text: string }[] | undefined;
    return content?.at(-1)?.text;
  };
  return { endpoint, env, home, repository, open, sent };
}

describe("codex at a terminal", () => {
  it("shows a turn with a live command, takes what is typed meanwhile, and leaves the terminal as it was", async () => {
    const { open, sent, repository } = await setUp([
      respond(shell("c1", "echo begun; until test -e go; do sleep 0.05; done; echo over")),
      say("All done."),
      say("Again."),
    ]);
    const terminal = open(["go on"]);
    await terminal.shown("  begun");
    terminal.type("next");
    terminal.type("\r");
    await terminal.shown("(waits) next");
    writeFileSync(join(repository, "go"), "");
    await terminal.shown("succeeded");
    await terminal.shown("All done.");
    await terminal.shown("Again.");
    await terminal.shown("out, ");
    expect([sent(0), sent(2)]).toEqual(["go on", "next"]);
    terminal.type(CTRL_D);
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.output).toContain("continues this thread");
    expect(terminal.output.trimEnd().endsWith("\u001b[?2004l\u001b[?7h\u001b[?25h")).toBe(true);
    // Without colours nothing but the cursor is moved.
    expect(terminal.output.replace(/\u001b\[(\d*[AJ]|\?(7|25|2004)[hl])/g, "")).not.toContain("\u001b");
  });

  it("asks in place, with what a command hides made visible, and goes on with what was typed before", async () => {
    const hidden = "touch made; echo '\u202e\u001b[8mhidden'";
    const config = 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"';
    const { open, repository } = await setUp(
      [respond(shell("c1", hidden)), say("one"), respond(shell("c2", "touch refused")), say("two")],
      config,
    );
    const terminal = open(["go on"]);
    await terminal.shown("[q]uit: ");
    expect(terminal.output).toContain("\\u202e\\u001b[8mhidden");
    expect(terminal.output).not.toContain("\u202e");
    terminal.type("y\r");
    await terminal.shown("one");
    terminal.type("again\r");
    await terminal.shown("[q]uit: ");
    terminal.type("n\r");
    await terminal.shown("denied: ");
    await terminal.shown("two");
    expect(readdirSync(repository)).toEqual([".git", "made"]);
  });

  it("passes the question of an MCP server to the person, and goes on with the answer", async () => {
    const program = fileURLToPath(new URL("../../mcp-client/test/programs/library.mjs", import.meta.url));
    const words = `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(program)}]`;
    const { open, endpoint } = await setUp(
      [respond(functionCall("c1", "mcp__library__sign", {})), say("signed")],
      `[mcp_servers.library]\n${words}\nrequired = true\ndefault_tools_approval_mode = "approve"`,
    );
    const terminal = open(["go on"]);
    await terminal.shown("https://example.com/form");
    await terminal.shown("Have you opened it? [y]es, [n]o: ");
    terminal.type("y\r");
    await terminal.shown("signed");
    const [output] = endpoint.requests[1]?.body.input.slice(-1) ?? [];
    expect(JSON.stringify(output).replaceAll("\\", "")).toContain('{"action":"accept"}');
  });

  it("ends a turn with Ctrl-C, also while it asks, and ends what that left running", async () => {
    const config = 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"';
    const { open, sent, endpoint, repository } = await setUp(
      [respond(shell("c1", "touch made")), respond(shell("c2", "echo begun; sleep 1000")), say("after")],
      config,
    );
    const terminal = open(["go on"]);
    await terminal.shown("[q]uit: ");
    terminal.type(CTRL_C);
    await terminal.shown("error: the turn was interrupted");
    expect(readdirSync(repository)).toEqual([".git"]);
    terminal.type("next\r");
    await terminal.shown("[q]uit: ");
    terminal.type("y\r");
    await terminal.shown("  begun");
    terminal.type(CTRL_C);
    await terminal.shown("error: the turn was interrupted");
    await terminal.shown("still ran and was ended: ");
    terminal.type("and then?\r");
    await terminal.shown("after");
    await terminal.shown("out, ");
    expect(sent(2)).toBe("and then?");
    expect(endpoint.requests[2]?.text).toContain("aborted by user");
    terminal.type(CTRL_C);
    await terminal.shown("Ctrl-C again leaves");
    terminal.type(CTRL_C);
    expect((await terminal.ended).code).toBe(0);
  });

  it("lists what still runs when the person leaves, and ends it", async () => {
    const background = functionCall("c1", "exec_command", { cmd: "echo $$; exec sleep 1000", yield_time_ms: 250 });
    const { open } = await setUp([respond(background), say("It runs.")]);
    const terminal = open(["start it"]);
    await terminal.shown("It runs.");
    await terminal.shown("still runs; /sessions");
    terminal.type("/sessions\r");
    await terminal.shown("exec sleep 1000");
    const pid = Number(/\r\n(\d+)\r\n/.exec(terminal.output)?.[1]);
    expect(() => process.kill(pid, 0)).not.toThrow();
    terminal.type("/quit\r");
    await terminal.shown("still ran and is ended: ");
    await terminal.ended;
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("sends a paste of 500 lines as one message, and what comes over several lines", async () => {
    const { open, sent } = await setUp([say("one"), say("two"), say("three")]);
    const terminal = open();
    await terminal.shown("model: test-model");
    const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`);
    terminal.type(PASTE(lines.join("\r")));
    await terminal.shown("[500 lines]");
    terminal.type(" and this\r");
    await terminal.shown("one");
    expect(sent(0)).toBe(`${lines.join("\n")} and this`);
    terminal.type("first\\\rsecond\r");
    await terminal.shown("two");
    expect(sent(1)).toBe("first\nsecond");
    terminal.type("\u001b[A\u001b[A\u001b[A\u001b[A\r");
    await terminal.shown("three");
    expect(sent(2)).toBe(sent(0));
  });

  it("goes on with a kept thread by /resume, codex resume and codex resume ID", async () => {
    const { open, sent, endpoint } = await setUp([say("first answer"), say("second"), say("third"), say("fourth")]);
    const terminal = open(["first question"]);
    await terminal.shown("first answer");
    await terminal.shown("out, ");
    terminal.type("/new\r");
    await terminal.shown("a new thread");
    terminal.type("unrelated\r");
    await terminal.shown("second");
    await terminal.shown("out, ");
    expect(JSON.stringify(endpoint.requests[1]?.body.input)).not.toContain("first question");
    terminal.type("/resume\r");
    await terminal.shown("2  ");
    await terminal.shown("a number continues");
    terminal.type("2\r");
    await terminal.shown("first answer");
    terminal.type("more\r");
    await terminal.shown("third");
    expect(sent(2)).toBe("more");
    expect(JSON.stringify(endpoint.requests[2]?.body.input)).toContain("first question");
    terminal.type(CTRL_D);
    await terminal.ended;
    const again = open(["resume", "--last", "the end"]);
    await again.shown("fourth");
    expect(endpoint.requests[3]?.body.prompt_cache_key).toBe(endpoint.requests[0]?.body.prompt_cache_key);
    const picking = open(["resume"]);
    await picking.shown("a number continues");
    picking.type("2\r");
    await picking.shown("1 messages before this");
    // The other conversation still has its thread.
    picking.type(`/resume ${String(endpoint.requests[0]?.body.prompt_cache_key)}\r`);
    await picking.shown("error: ");
  });

  it("carries out its commands", async () => {
    const { open, repository, endpoint } = await setUp([say("one"), say("a summary"), say("two")]);
    writeFileSync(join(repository, "new.txt"), "");
    const terminal = open();
    await terminal.shown("model: test-model");
    const ask = async (typed: string, answer: string) => {
      terminal.type(`${typed}\r`);
      await terminal.shown(answer);
    };
    await ask("/help", "/approvals");
    await ask("/nothing", "there is no /nothing");
    await ask("/compact", "nothing to compact");
    await ask("/status", "none yet");
    await ask("/sessions", "nothing runs");
    await ask("/approvals", "approval policy: never");
    await ask("/view", "view: http://127.0.0.1:");
    await ask("/view", "view: http://127.0.0.1:");
    await ask("/diff", "new.txt");
    await ask("/model other", "model: other");
    await ask("hello", "one");
    await terminal.shown("out, ");
    await ask("/compact", "replaced by a summary");
    await terminal.shown("out, ");
    await ask("/etc/hosts: what is it?", "two");
    expect(endpoint.requests.map(({ body }) => body.model)).toEqual(["other", "other", "other"]);
    expect(endpoint.requests[2]?.text).toContain("a summary");
  });

  it.each<[NodeJS.Signals]>([["SIGTERM"], ["SIGHUP"]])("gives the terminal back, and dies of %s", async (signal) => {
    const { open } = await setUp([respond(shell("c1", "echo begun; sleep 1000"))]);
    const terminal = open(["go on"]);
    await terminal.shown("  begun");
    terminal.type("a draft");
    await terminal.shown("a draft");
    terminal.kill(signal);
    expect((await terminal.ended).signal).toBe(signal === "SIGTERM" ? 15 : 1);
    expect(terminal.output).toContain("\u001b[?2004l\u001b[?7h\u001b[?25h");
  });

  it("survives every size, and draws its input once", async () => {
    const { open, sent } = await setUp([respond(shell("c1", "echo begun; sleep 1000")), say("fine")]);
    const terminal = open(["go on"]);
    await terminal.shown("  begun");
    terminal.type("a draft that is longer than some of the widths");
    for (let count = 1; count <= 60; count += 1) terminal.resize(1 + ((count * 37) % 120), 1 + ((count * 13) % 40));
    terminal.resize(100, 30);
    terminal.type(CTRL_C);
    await terminal.shown("error: the turn was interrupted");
    terminal.type("\r");
    await terminal.shown("fine");
    expect(sent(1)).toBe("a draft that is longer than some of the widths");
  });

  it("says so when the endpoint dies in the middle, and goes on", async () => {
    const { open } = await setUp((_request, index) =>
      index === 0 ? { status: 400, body: ['{"error":{"message":"no such model"}}'] } : say("fine"),
    );
    const terminal = open(["go on"]);
    await terminal.shown("error: ");
    await terminal.shown("no such model");
    terminal.type("again\r");
    await terminal.shown("fine");
  });

  it("says that an executor is gone, and does not wait for it without end", async () => {
    const { open } = await setUp([respond(shell("c1", "echo begun; sleep 1000")), say("never")]);
    const { child, url } = await command.listen();
    const terminal = open(["--executor", url, "-C", tmpdir(), "go on"]);
    await terminal.shown("  begun");
    child.kill("SIGKILL");
    await terminal.shown("connection lost, trying again");
    terminal.type(CTRL_C);
    await terminal.shown("lost: the call was interrupted");
    await terminal.shown("error: the turn was interrupted");
    await terminal.shown("what still runs there is unknown");
    terminal.type(CTRL_D);
    expect((await terminal.ended).code).toBe(0);
    expect(terminal.output).toContain("\u001b[?2004l");
  });

  it("edits lines by the terminal itself where that cannot place its cursor", async () => {
    const { open, sent } = await setUp([say("fine")]);
    const terminal = open([], { TERM: "dumb" });
    await terminal.shown("› ");
    terminal.type("hello\n");
    await terminal.shown("fine");
    expect(sent(0)).toBe("hello");
    expect(terminal.output).not.toContain("\u001b");
    terminal.type(CTRL_D);
    expect((await terminal.ended).code).toBe(0);
  });

  it("ends before anything is asked where it cannot begin, and gives the terminal back", async () => {
    const { open, endpoint } = await setUp([say("never")]);
    const terminal = open(["-c", "model_provider=nobody", "go on"]);
    expect((await terminal.ended).code).toBe(1);
    expect(terminal.output).toContain("nobody");
    expect(terminal.output).toContain("\u001b[?2004l");
    expect(endpoint.requests).toHaveLength(0);
  });
});

describe("codex without a terminal", () => {
  it.each([
    ["an argument", ["say it"], ""],
    ["stdin", [], "say it"],
  ])("is codex exec, with its prompt from %s", async (_name, args, input) => {
    const { env, repository, sent } = await setUp([say("said")]);
    const child = command.startIn(repository, args, { ...env, NO_COLOR: "" });
    child.stdin.end(input);
    const { code, stdout, stderr } = await finish(child);
    expect([code, stdout.toString(), sent(0)]).toEqual([0, "said\n", "say it"]);
    expect(stderr).not.toContain("\u001b");
  });

  it("does not pick a thread", async () => {
    const { env, repository } = await setUp([]);
    const child = command.startIn(repository, ["resume"], env);
    child.stdin.end();
    expect(await finish(child)).toMatchObject({ code: 2, stderr: expect.stringContaining("--last") });
  });
});

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

describe("codex in tmux", () => {
  it.skipIf(!hasTmux)("shows a turn, an approval and a paste, and keeps its screen whole over a resize", async () => {
    const config = 'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"';
    const script = [
      respond(shell("c1", "seq 1 5; until test -e go; do sleep 0.05; done")),
      say("finished"),
      say("read it"),
    ];
    const { env, home, repository, sent } = await setUp(script, config);
    const socket = join(home, "tmux");
    const tmux = (...args: string[]) =>
      execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
        encoding: "utf8",
        env: { ...process.env, ...env },
      });
    onTestFinished(() => void spawnSync("tmux", ["-S", socket, "kill-server"]));
    tmux("new-session", "-d", "-x", "90", "-y", "25", "-c", repository, process.execPath, codex, "go on");
    const screen = () => tmux("capture-pane", "-p");
    const shown = (text: string) => expect.poll(screen).toContain(text);
    await shown("Run it?");
    tmux("send-keys", "y", "Enter");
    await shown("  5");
    await shown("• seq 1 5");
    for (const width of [60, 30, 120, 90]) tmux("resize-window", "-x", String(width), "-y", "25");
    tmux("send-keys", "-l", "a draft");
    await shown("› a draft");
    expect(screen().match(/› a draft/g)).toHaveLength(1);
    expect(screen().match(/• seq 1 5/g)).toHaveLength(1);
    writeFileSync(join(repository, "go"), "");
    await shown("finished");
    await shown("› a draft");
    writeFileSync(join(home, "paste"), Array.from({ length: 500 }, (_, index) => `line ${index}\n`).join(""));
    tmux("load-buffer", join(home, "paste"));
    tmux("paste-buffer", "-p");
    await shown("› a draft[500 lines]");
    tmux("send-keys", "Enter");
    await shown("read it");
    expect(sent(2)?.split("\n")).toHaveLength(500);
  });
});
