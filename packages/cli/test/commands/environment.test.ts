import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "../support.js";

const command = useCommand();

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "codex home "));
});
afterEach(() => rmSync(home, { recursive: true }));

const run = async (...args: string[]) => {
  const child = command.start(args, { CODEX_HOME: home });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
};

async function listen(kind: "exec-server" | "executor"): Promise<string> {
  const child = command.start([kind, "--listen", "ws://127.0.0.1:0", "--log-level", "off"]);
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string]; // its first line
  return url;
}

const table = (id: string, url: string) => `[[environments]]\nid = "${id}"\nurl = "${url}"\n`;
const write = (text: string, name = "environments.toml") => writeFileSync(join(home, name), text);

/** A port that counts who comes, and answers nobody. */
async function count() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `ws://127.0.0.1:${port}`, connections: () => connections };
}

describe("codex environment", () => {
  it("lists the environments without connecting any", async () => {
    const { url, connections } = await count();
    write(`default = "a"\n${table("a", `${url}/p?k=s3cret`)}`);
    write('[extend.a]\nfallback = "local"\n', "environments-ts.toml");
    const { code, stdout } = await run("environment", "list", "--json");
    expect([code, JSON.parse(stdout), connections()]).toEqual([
      0,
      {
        default: "a",
        environments: [
          {
            id: "a",
            kind: "websocket",
            status: "disconnected",
            target: `${url}/p`,
            place: `${join(home, "environments.toml")}:2`,
            fallback: "local",
          },
          { id: "local", kind: "local", status: "ready" },
        ],
      },
      0,
    ]);
  });

  it("says where a file is invalid, and ends with 1", async () => {
    write(table("a", "http://u:s3cret@h/?s3cret"));
    for (const args of [["list", "--json"], ["check"], ["info", "a"]]) {
      const { code, stdout, stderr } = await run("environment", ...args);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`${join(home, "environments.toml")}:3: \`environments.url\` is "http://h/"; expected`);
    }
    const { code, stderr } = await run("run", "--", "touch", join(home, "ran"));
    expect([code, stderr]).toEqual([125, expect.stringContaining("environments.toml:3:")]);
    expect(() => readFileSync(join(home, "ran"))).toThrow();
  });

  it("adds, checks and removes", async () => {
    const url = await listen("exec-server");
    expect(await run("environment", "add", "--default", "far", url)).toMatchObject({ code: 0, stderr: "" });
    expect(await run("environment", "add", "down", "ws://127.0.0.1:1")).toMatchObject({ code: 0 });
    expect(await run("environment", "add", "down", "ws://127.0.0.1:1")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("environment", "check", "far")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^ok +far .*round trip/),
    });
    const all = await run("environment", "check", "--json");
    expect(all.code).toBe(1);
    expect(JSON.parse(all.stdout)).toMatchObject([
      { id: "far", ok: true, serves: "exec-server", roundTripMs: expect.any(Number) },
      { id: "local", ok: true },
      { id: "down", ok: false, problem: expect.stringContaining("ECONNREFUSED"), mend: expect.any(String) },
    ]);
    expect(await run("environment", "remove", "down")).toMatchObject({ code: 0 });
    expect(await run("environment", "remove", "down")).toMatchObject({ code: 1 });
  });
});

describe("a command in an environment", () => {
  it.each(["exec-server", "executor"] as const)("runs behind an %s", async (kind) => {
    write(table("far", await listen(kind)));
    const ran = await run("run", "--environment", "far", "--", "sh", "-c", "echo far; exit 3");
    expect(ran).toEqual({ code: 3, stdout: "far\n", stderr: "" });
    expect(await run("tools", "list", "--environment", "far")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("exec_command"),
    });
    const sessions = await run("sessions", "list", "--environment", "far");
    expect(sessions).toMatchObject(
      kind === "executor" ? { code: 0 } : { code: 1, stderr: expect.stringContaining("is an exec-server") },
    );
  });

  it("runs in the default, and never silently here", async () => {
    write(`default = "far"\n${table("far", "ws://127.0.0.1:1")}`);
    const failed = await run("run", "--", "touch", join(home, "ran"));
    expect(failed).toMatchObject({
      code: 125,
      stdout: "",
      stderr: expect.stringMatching(/`far`.*ECONNREFUSED.*nothing was run/),
    });
    expect(() => readFileSync(join(home, "ran"))).toThrow();
    expect(await run("run", "--environment", "local", "--", "echo", "here")).toMatchObject({
      code: 0,
      stdout: "here\n",
    });
  });

  it("runs in a fallback that is named, and says so", async () => {
    write(`default = "far"\n${table("far", "ws://127.0.0.1:1")}`);
    write('[extend.far]\nfallback = "local"\n', "environments-ts.toml");
    const ran = await run("run", "--", "echo", "here");
    expect(ran).toEqual({
      code: 0,
      stdout: "here\n",
      stderr: expect.stringMatching(/`far` cannot be used: .*; running in `local`/),
    });
  });

  it("runs nothing where environments are disabled", async () => {
    write('default = "none"\n');
    expect(await run("run", "--", "true")).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("no default environment"),
    });
    expect(await run("tools", "list")).toMatchObject({ code: 1 });
  });

  it("is refused with both options, and for an id that is not there", async () => {
    expect(await run("run", "--environment", "a", "--executor", "h:1", "--", "true")).toMatchObject({ code: 2 });
    expect(await run("run", "--environment", "a", "--", "true")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("`local`"),
    });
  });

  it("connects none of twenty when the default is this host", async () => {
    const { url, connections } = await count();
    write(Array.from({ length: 20 }, (_, index) => table(`e${index}`, index < 2 ? "ws://127.0.0.1:1" : url)).join(""));
    expect(await run("tools", "list")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("run", "--", "echo", "here")).toMatchObject({ code: 0, stdout: "here\n" });
    expect(connections()).toBe(0);
  });
});
