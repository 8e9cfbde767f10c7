import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectWebSocket, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataOf, parseCast } from "../../recording/test/cast.js";
import { codex, finish, useCommand } from "./support.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "recording-"));
});
afterEach(() => rmSync(dir, { recursive: true }));
const file = () => join(dir, "f.cast");
const readCast = () => parseCast(readFileSync(file(), "utf8"));

describe("codex run --record", () => {
  const command = useCommand();

  it("writes what a program on pipes wrote, and how it ended", async () => {
    const script = "echo out; echo err >&2; printf 'b\\303'; printf '\\251'; exit 3";
    const { code, stdout } = await command.run(["run", "--record", file(), "--", "sh", "-c", script]);
    expect([code, stdout.toString()]).toEqual([3, "out\nbé"]);
    const cast = readCast();
    expect(cast.header).toMatchObject({
      term: { cols: 80, rows: 24 },
      command: `sh -c '${script.replaceAll("'", "'\\''")}'`,
    });
    expect([...dataOf(cast, "o")].sort().join("")).toBe([..."out\r\nerr\r\nbé"].sort().join(""));
    expect(cast.events.at(-1)).toMatchObject({ code: "x", data: "3" });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it("writes what a program on a terminal wrote, without what was typed", async () => {
    const script = "stty -echo; echo ready; read x; echo done";
    const child = command.start(["run", "--tty", "--record", file(), "--", "sh", "-c", script]);
    const finished = finish(child);
    await once(child.stdout, "data");
    child.stdin.end("secret\n");
    expect((await finished).code).toBe(0);
    const cast = readCast();
    expect(dataOf(cast, "o")).toBe("ready\r\ndone\r\n");
    expect(readFileSync(file(), "utf8")).not.toContain("secret");
  });

  it("writes what was typed when asked", async () => {
    const args = ["run", "--record", file(), "--record-input", "--", "cat"];
    await command.run(args, "täglich\n");
    const cast = readCast();
    expect([dataOf(cast, "i"), dataOf(cast, "o")]).toEqual(["täglich\n", "täglich\r\n"]);
    expect((await command.run(["run", "--record-input", "--", "true"])).code).toBe(2);
  });

  it("has every byte of a large output", async () => {
    await command.run(["run", "--record", file(), "--", "seq", "300000"]);
    const cast = readCast();
    const expected = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\r\n`).join("");
    expect(dataOf(cast, "o") === expected).toBe(true);
  });

  it("is a whole file up to where the command was killed", async () => {
    const child = command.start(["run", "--record", file(), "--", "sh", "-c", "while :; do echo flood; done"]);
    const ended = once(child, "close");
    for await (const _bytes of child.stdout) {
      if (statSync(file()).size > 1_000_000) break;
    }
    child.kill("SIGKILL");
    await ended;
    const cast = readCast();
    expect(dataOf(cast, "o").length).toBeGreaterThan(100_000);
    expect(dataOf(cast, "x")).toBe("");
  });

  it.each([
    ["before the program runs", '{"version"'],
    ["while it runs", '"o", "ready'],
  ])("follows the size of the window when it changes %s", async (_when, seen) => {
    const backend = createLocalBackend();
    try {
      const argv = [
        process.execPath,
        codex,
        "run",
        "--record",
        file(),
        "--",
        "sh",
        "-c",
        "echo ready; read x; stty size",
      ];
      const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", TERM: "xterm" };
      const stdio = { kind: "pty" as const, size: { rows: 20, cols: 70 } };
      const child = await backend.start({ argv, cwd: dir, env, stdio });
      while (!hasText(file(), seen)) await sleep(5);
      await child.resize({ rows: 30, cols: 100 });
      while (!hasText(file(), '"r"')) await sleep(5);
      await child.write(Buffer.from("\n"));
      expect(await child.exited).toEqual({ kind: "exited", code: 0 });
    } finally {
      await backend.close();
    }
    const cast = readCast();
    expect(cast.header.term).toEqual({ rows: 20, cols: 70, type: "xterm" });
    expect(dataOf(cast, "r")).toBe("100x30");
    expect(dataOf(cast, "o")).toMatch(/^\s*ready\r\n[\s\S]*30 100\r\n$/);
    expect(dataOf(cast, "i")).toBe("");
  });

  it("does not run anything that it could not record", async () => {
    writeFileSync(file(), "kept");
    const marker = join(dir, "ran");
    const { code, stderr } = await command.run(["run", "--record", file(), "--", "touch", marker]);
    expect([code, stderr]).toEqual([
      2,
      `codex: no recording can be written to ${JSON.stringify(file())}: it exists already\n`,
    ]);
    expect(readFileSync(file(), "utf8")).toBe("kept");
    expect(() => statSync(marker)).toThrow();
  });
});

describe("codex sessions record", () => {
  const command = useCommand();
  const attached: Orchestrator[] = [];
  afterEach(async () => {
    for (const orchestrator of attached.splice(0)) await orchestrator.close();
  });

  /** An executor with a session on a terminal, and what looks after it. */
  const start = async (cmd: string) => {
    const { url } = await command.listen();
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    attached.push(orchestrator);
    await orchestrator.attach({ name: "executor", channel: connectWebSocket(url) });
    const call = async (name: string, args: object) => {
      const result = await orchestrator.callTool(name, args);
      if (result.isError) throw new Error(result.text);
      return result.structured as Record<string, unknown>;
    };
    const started = await call("exec_command", { cmd, tty: true, shell: "sh", login: false, until: "prompt" });
    const id = Number(started.processId);
    const write = (args: object) => call("write_stdin", { session_id: id, until: "prompt", ...args });
    return { id, url, call, write };
  };

  it("writes a live session: output, sizes, and no end", async () => {
    const { id, url, write } = await start("stty -echo; echo one; read a; echo two; read b");
    await write({ resize: { rows: 30, cols: 90 } });
    await write({ chars: "\n" });
    const { code, stdout, stderr } = await command.run(["sessions", "record", String(id), "--executor", url]);
    expect([code, stderr]).toEqual([0, ""]);
    const cast = parseCast(stdout.toString());
    expect(cast.header.term).toEqual({ cols: 80, rows: 24 });
    expect(cast.events.map(({ code, data }) => [code, data])).toEqual([
      ["o", "one\r\n"],
      ["r", "90x30"],
      ["o", "two\r\n"],
    ]);
  });

  it("has the times at which output was written", async () => {
    const { id, url, write } = await start("stty -echo; echo one; read a; echo two; read b");
    const seen = performance.now();
    await sleep(300);
    const between = performance.now() - seen;
    await write({ chars: "\n" });
    const { stdout } = await command.run(["sessions", "record", String(id), "--executor", url]);
    const { events } = parseCast(stdout.toString());
    expect(events.map(({ data }) => data)).toEqual(["one\r\n", "two\r\n"]);
    // Written before the one was seen, and after the other was asked for; rounded to milliseconds.
    expect(events[1]!.interval * 1000).toBeGreaterThan(between - 2);
  });

  it("goes on until the end of the session when it follows", async () => {
    const { id, url, write } = await start("stty -echo; echo one; read a; echo two; exit 5");
    const child = command.start(["sessions", "record", String(id), "-o", file(), "--follow", "--executor", url]);
    const finished = finish(child);
    while (!hasText(file(), '"o", "one')) await sleep(5);
    await write({ chars: "\n", until: "exit", max_output_tokens: 0 });
    const { code, stderr } = await finished;
    expect([code, stderr]).toEqual([0, ""]);
    const cast = readCast();
    expect(dataOf(cast, "o")).toBe("one\r\ntwo\r\n");
    expect(cast.events.at(-1)).toMatchObject({ code: "x", data: "5" });
  });

  it("leaves a whole file when it is interrupted", async () => {
    const { id, url } = await start("echo one; read a");
    const child = command.start(["sessions", "record", String(id), "-o", file(), "--follow", "--executor", url]);
    const finished = finish(child);
    while (!hasText(file(), '"o", "one')) await sleep(5);
    child.kill("SIGINT");
    expect((await finished).code).toBe(0);
    expect(dataOf(readCast(), "o")).toBe("one\r\n");
  });

  it("has a picture beside it: `codex sessions screenshot`, as text, SVG and PNG", async () => {
    const { id, url } = await start("stty -echo; printf '\\033]0;a title\\007\\033[31mred\\033[0m <b> 日本'; read x");
    const picture = async (name: string, session = id) => {
      const path = join(dir, name);
      const result = await command.run(["sessions", "screenshot", String(session), "--executor", url, "-o", path]);
      return { ...result, path };
    };
    const [text, svg, png, none, other] = await Promise.all([
      picture("a.txt"),
      picture("a.svg"),
      picture("a.PNG"),
      picture("b.svg", 77),
      picture("no/such/place.svg"),
    ]);
    expect([text.code, svg.code, none.code, other.code]).toEqual([0, 0, 1, 1]);
    expect(readFileSync(text.path, "utf8")).toBe("red <b> 日本\n");
    expect(readFileSync(svg.path, "utf8")).toMatch(
      /a title[\s\S]*>red<[\s\S]*&lt;b&gt;[\s\S]*textLength="33.6"[^>]*>日本</,
    );
    expect(statSync(svg.path).mode & 0o777).toBe(0o600);
    // A host without fonts cannot draw text, and says so.
    if (png.code === 0) expect(readFileSync(png.path).subarray(1, 4).toString()).toBe("PNG");
    else expect(png.stderr).toMatch(/needs (fonts|the package @resvg)/);
    expect(none.stderr).toBe("codex: unknown session 77; `codex sessions list` shows the sessions\n");
    expect(other.stderr).toContain(`cannot write ${JSON.stringify(other.path)}: ENOENT`);
  });

  it("plays to the screen that the session shows", async () => {
    const draw = "seq 1 60; printf '\\033[5;10Hmiddle\\033[K\\033]0;a title\\007'; printf '\\033[2;3H\\342\\202\\254'";
    const { id, url, call } = await start(`stty -echo; ${draw}; read x`);
    const shown = await call("read_screen", { session_id: id });
    const { stdout } = await command.run(["sessions", "record", String(id), "--executor", url]);
    writeFileSync(join(dir, "played"), dataOf(parseCast(stdout.toString()), "o"));
    const player = await start(`stty raw -echo; cat ${join(dir, "played")}; read x`);
    const played = await player.call("read_screen", { session_id: player.id });
    const { rows, cursor, title } = shown;
    expect({ rows: played.rows, cursor: played.cursor, title: played.title }).toEqual({ rows, cursor, title });
    expect(title).toBe("a title");
  });

  it.each([
    [["--executor", "stdio"], 2, /belongs to whoever started it/],
    [[], 2, /--executor/],
    [["--executor", "ws://127.0.0.1:1", "--json"], 2, /unknown option .--json/],
  ])("says what is wrong with %j", async (args, expected, problem) => {
    const { code, stderr } = await command.run(["sessions", "record", "1000", ...args]);
    expect(code).toBe(expected);
    expect(stderr).toMatch(problem);
  });

  it.each([
    [["-o", "a.jpg"], /"a.jpg": the name has to end in one of .svg, .png, .txt/],
    [["-o", "svg"], /"svg": the name has to end in one of/],
    [[], /required option '-o, --output <file>'/],
  ])("takes no screenshot to %j", async (args, problem) => {
    const { code, stderr } = await command.run(["sessions", "screenshot", "1000", ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(problem);
  });

  it("says that there is no such session, and makes no file", async () => {
    const { url } = await command.listen();
    const { code, stderr } = await command.run(["sessions", "record", "77", "-o", file(), "--executor", url]);
    expect([code, stderr]).toEqual([1, "codex: unknown session 77; `codex sessions list` shows the sessions\n"]);
    expect(() => statSync(file())).toThrow();
  });
});

function hasText(path: string, text: string): boolean {
  try {
    return readFileSync(path, "utf8").includes(text);
  } catch {
    return false;
  }
}
