import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createFixture, startWeb } from "../src/fixture.mjs";
import { parseOptions } from "../src/options.mjs";
import { runAll } from "../src/run-all.mjs";
import { createServers, toArguments } from "../src/server.mjs";
import {
  command,
  IN_HASTE,
  INITIALIZED,
  initialize,
  initialized,
  runScripted,
  SESSION,
  withFolder,
} from "./support.mjs";

const main = fileURLToPath(new URL("../main.mjs", import.meta.url));
const echo = (connection, text, isBinary = false) => ({
  method: "echo",
  params: { connection, text, isBinary },
  $connection: connection,
});
const hello = (name) => ({ name, compare: "exact", send: [initialize(name)], expect: [INITIALIZED] });

describe("steps", () => {
  it("sends frames unchanged, on the open connection", async () => {
    const cases = [
      {
        name: "frames",
        compare: "exact",
        send: [
          { $raw: "{not json" },
          { $binary: '{"a":1}' },
          { $waitFor: "echo" },
          { $waitFor: "echo" },
          { $newConnection: true },
          { $raw: "$FIXTURE $HTTP" },
          { $waitFor: "echo" },
          { $drop: true },
          { $newConnection: true },
          { id: null, method: "x" },
          { $waitFor: "echo" },
        ],
        expect: [
          echo(0, "{not json"),
          echo(0, '{"a":1}', true),
          echo(1, "$FIXTURE <httpBase>"),
          echo(2, '{"id":null,"method":"x"}'),
        ],
      },
    ];
    expect((await runScripted(cases, IN_HASTE)).get("frames")).toMatchObject({ verdict: "passed" });
  });

  it("waits for another message each time, for an id and for the end of a body", async () => {
    const delta = (seq, done) => ({ method: "http/request/bodyDelta", params: { requestId: "r", seq, done } });
    const name = "waits";
    const expected = [
      initialized(),
      { id: -1, error: { code: -32600, message: "x" } },
      delta(1, false),
      delta(2, true),
    ];
    const enough = {
      name,
      compare: "exact",
      send: [{ ...initialize(name), pipelined: true }, { $raw: "{" }, { $waitForId: -1 }, { $waitForDone: "r" }],
      expect: expected,
      script: [[expected[0]], expected.slice(1)],
    };
    const tooLittle = {
      name: "waits for a second one",
      compare: "exact",
      send: [initialize("waits for a second one"), { $waitFor: "x" }, { $waitFor: "x" }],
      expect: [INITIALIZED, { method: "x" }],
      script: [[initialized(), { method: "x" }]],
    };
    expect((await runScripted([enough], IN_HASTE)).get(name)).toMatchObject({ verdict: "passed" });
    const results = await runScripted([tooLittle], [...IN_HASTE, "--timeout-ms", "1500"]);
    expect(results.get(tooLittle.name)).toMatchObject({
      verdict: "failed",
      detail: "x did not come in time",
    });
  });

  it("creates the file of a `$touch` in the fixture directory", async () => {
    const fixtures = await Promise.all([createFixture(), createFixture()]);
    expect(fixtures[0].path).not.toBe(fixtures[1].path);
    expect(await readFile(join(fixtures[0].path, "link"), "utf8")).toBe("hello");
    await expect(readFile(join(fixtures[0].path, "dangling"))).rejects.toThrow("ENOENT");
    await Promise.all(fixtures.map((fixture) => fixture.remove()));
    const cases = [{ ...hello("touch"), script: [[initialized()]] }];
    cases[0].send.push({ $touch: "$FIXTURE/later" });
    expect((await runScripted(cases, IN_HASTE)).get("touch")).toMatchObject({ verdict: "passed" });
  });

  it("rejects an unknown step", async () => {
    const cases = [{ name: "unknown", compare: "exact", send: [{ $nap: 5 }], expect: [] }];
    const result = (await runScripted(cases, IN_HASTE)).get("unknown");
    expect(result).toMatchObject({ verdict: "failed", detail: "`$nap` is not a step of a case" });
  });
});

describe("verdicts", () => {
  it("a case that may differ passes or differs, and never fails", async () => {
    const cases = ["same", "other"].map((name) => ({
      ...hello(name),
      mayDiffer: "because",
      script: [[initialized(name === "same" ? SESSION : "x")]],
    }));
    const results = await runScripted(cases, IN_HASTE);
    expect(results.get("same").verdict).toBe("passed");
    expect(results.get("other")).toMatchObject({ verdict: "differs", mayDiffer: "because" });
  });

  it("a server that does not start fails", async () => {
    const run = (server) =>
      runAll(parseOptions(["--server", server, "--filter", "handshake.initialize-ok"])).then(([result]) => result);
    expect(await run("/nonexistent/server")).toMatchObject({
      verdict: "failed",
      detail: expect.stringContaining("ENOENT"),
    });
    const ends = "sh -c 'echo why >&2; exit 3'";
    expect(await run(ends)).toMatchObject({ verdict: "failed", detail: expect.stringMatching(/exit code 3.*why/) });
  });

  it("replays eligible cases over stdio", async () => {
    const cases = [
      { ...hello("stdio"), transport: "stdio", script: [[initialized()]] },
      { ...hello("either"), script: [[initialized()]] },
      { ...hello("socket"), send: [{ $drop: true }], expect: [] },
    ];
    const results = await runScripted(cases, [...IN_HASTE, "--stdio"]);
    expect([...results.values()].map(({ verdict }) => verdict)).toEqual(["passed", "passed", "skipped"]);
  });

  it("runs against an address, without the cases that need a command, and ends the processes it started", async () => {
    await withFolder(async (folder) => {
      const [scripts, cases] = [join(folder, "scripts.json"), join(folder, "cases.json")];
      await writeFile(scripts, JSON.stringify({ here: [[initialized()], [{ id: 2, result: {} }], ["$close"]] }));
      const start = { id: 2, method: "process/start", params: { processId: "p" } };
      const here = {
        ...hello("here"),
        send: [initialize("here"), start],
        expect: [INITIALIZED, { id: 2, result: {} }],
      };
      await writeFile(cases, JSON.stringify([here, { ...hello("stdio"), transport: "stdio" }]));
      const child = spawn("sh", ["-c", `exec ${command("scripted-server.mjs", scripts, "ws")}`]);
      const [banner] = await once(child.stdout, "data");
      const results = await runAll(parseOptions(["--server", String(banner).trim(), "--cases", cases]));
      expect(results.map(({ verdict }) => verdict)).toEqual(["passed", "skipped"]);
      child.kill();
      await once(child, "exit");
    });
  });

  it("runs cases of extensions on request", async () => {
    const cases = [
      { ...hello("recorded"), script: [[initialized()]] },
      { ...hello("added"), extension: "more", script: [[initialized()]] },
    ];
    expect([...(await runScripted(cases, IN_HASTE)).keys()]).toEqual(["recorded"]);
    expect([...(await runScripted(cases, [...IN_HASTE, "--extensions"])).keys()]).toEqual(["recorded", "added"]);
  });
});

describe("servers", () => {
  it("get their address at the placeholder in the command, else at the end", () => {
    expect(toArguments("codex exec-server", "websocket")).toEqual([
      "codex",
      "exec-server",
      "--listen",
      "ws://127.0.0.1:0",
    ]);
    expect(toArguments('a --on={listen} \'b c\' "d \\" e" f\\ g', "stdio")).toEqual([
      "a",
      "--on=stdio",
      "b c",
      'd " e',
      "f g",
    ]);
  });

  it.skipIf(process.platform === "win32")("are ended with all that they started", async () => {
    await withFolder(async (folder) => {
      const file = join(folder, "pids");
      const server = await createServers(`${command("leaving-server.mjs", file)} {listen}`).start("websocket");
      const pids = JSON.parse(await readFile(file, "utf8"));
      await server.end();
      expect(pids).toHaveLength(2);
      for (const pid of pids) expect(await isRunning(pid)).toBe(false);
    });
  });
});

/** A zombie counts as ended. */
async function isRunning(pid) {
  const state = await text(spawn("ps", ["-o", "stat=", "-p", String(pid)]).stdout);
  return state.trim() !== "" && !state.trim().startsWith("Z");
}

it("the HTTP server responds as it did for the recording", async () => {
  const web = await startWeb();
  const [first, second] = await Promise.all([fetch(`${web.base}/hello`), fetch(`${web.base}/chunks`)]);
  expect([first.headers.get("x-multi"), await first.text()]).toEqual(["a, b", "hello"]);
  expect([second.headers.get("content-type"), await second.text()]).toEqual(["text/plain", "onetwoend"]);
  await web.close();
});

describe("command", () => {
  const run = async (...args) => {
    const child = spawn(process.execPath, [main, ...args]);
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { out, err, code };
  };

  it("reports each case, and exits with 1 if one failed", async () => {
    await withFolder(async (folder) => {
      const [scripts, cases] = [join(folder, "scripts.json"), join(folder, "cases.json")];
      await writeFile(
        scripts,
        JSON.stringify({ good: [[initialized()]], bad: [[initialized(5)]], other: [[initialized(5)]] }),
      );
      await writeFile(
        cases,
        JSON.stringify([hello("good"), hello("bad"), { ...hello("other"), mayDiffer: "because" }]),
      );
      const args = ["--server", command("scripted-server.mjs", scripts, "{listen}"), "--cases", cases];
      const all = await run(...args);
      expect(all.code).toBe(1);
      expect(all.out).toMatch(/^good +passed$/m);
      expect(all.out).toMatch(/^bad +FAILED +message 1: result.sessionId: expected "<sessionId>", got 5$/m);
      expect(all.out).toMatch(/^other +differs deliberately +message 1: .* \(because\)$/m);
      expect(all.out).toContain("3 cases: 1 passed, 1 differ deliberately, 1 failed, 0 skipped");
      const good = await run(...args, "--filter", "o", "--json");
      expect(good.code).toBe(0);
      expect(JSON.parse(good.out)).toMatchObject({ counts: { passed: 1, differs: 1, failed: 0, skipped: 0 } });
    });
  });

  it.each([
    [["--cases", "x"], "--server is missing"],
    [["--server", "x", "--jobs", "0"], "--jobs is `0`: expected a number from 1 to 64"],
    [["--server", "x", "--nope"], "--nope"],
    [["--server", "x", "--filter", "nothing like this"], "no case to run"],
    [["--server", "x", "--cases", "/nonexistent.json"], "/nonexistent.json"],
  ])("exits with 2 on %j", async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });
});
