import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { kill } from "node:process";
import { beforeEach, describe, expect, it } from "vitest";
import { outputOf, untilOutput } from "../../process-host/test/support.js";
import { createHostFiles } from "../src/profile/host-files.js";
import { entry, NO_BUBBLEWRAP, pattern, READ_ALL, restrict, type SandboxEntry, useSandbox } from "./support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`a hostile workspace (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();
  let inside: string;
  beforeEach(() => {
    inside = join(sandbox.base, "around/inside");
    mkdirSync(inside, { recursive: true });
  });
  const run = (script: string, entries = [entry(inside, "write")]) =>
    sandbox.script(script, { cwd: inside, sandbox: restrict([READ_ALL, ...entries]) });

  it("below a writable directory cannot be moved away to open what is closed in it", async () => {
    execFileSync("git", ["init", "-q", inside]);
    const around = join(sandbox.base, "around");
    const entries = [entry(sandbox.base, "write"), entry(inside, "write")];
    const { output } = await run(`mv ${around} ${around}2 && mkdir -p ${inside}; mv ${inside} ${inside}2`, entries);
    expect(output.match(/busy/g)).toHaveLength(2);
    await run(`echo x > ${around}2/inside/.git/hooks/pre-commit; echo x > .git/hooks/pre-commit`, entries);
    expect(existsSync(join(inside, ".git/hooks/pre-commit"))).toBe(false);
    expect(readdirSync(sandbox.base)).toEqual(["around"]);
  });

  it("with a FIFO or a device in place of a .git file keeps nobody waiting", async () => {
    execFileSync("mkfifo", [join(inside, ".git")]);
    expect((await run("echo ran")).output).toBe("ran\n");
    const { firstLine } = createHostFiles();
    expect(firstLine("/dev/zero")).toBeUndefined();
    writeFileSync(join(inside, "long"), "x".repeat(100_000));
    expect(firstLine(join(inside, "long"))).toHaveLength(8_192);
  });

  it.each([
    ["a file that a pattern names", "touch keys/id_$'\\xff'", "keys/id_*"],
    ["a directory that a pattern looks into", "mkdir keys/$'\\xff'", "keys/**/id"],
  ])("with a name that is no UTF-8, %s, is refused: it would stay open", async (_what, script, denied) => {
    mkdirSync(join(inside, "keys"));
    execFileSync("bash", ["-c", script], { cwd: inside });
    await expect(run("cat keys/*", [entry(inside, "write"), pattern(join(inside, denied))])).rejects.toMatchObject({
      code: "sandbox_invalid",
      message: expect.stringContaining("not UTF-8"),
    });
  });

  it("closes names with line ends, quotes and spaces", async () => {
    const names = ["a\nb", "q\"u'o", "s p", "--bind", "t\u202et"];
    mkdirSync(join(inside, "keys"));
    for (const name of names) writeFileSync(join(inside, "keys", name), "secret\n");
    const byName = names.map((name) => entry(join(inside, "keys", name), "deny"));
    for (const denied of [byName, [pattern(join(inside, "keys/*"))]]) {
      const { output } = await run("cat keys/* && echo read", [entry(inside, "write"), ...denied]);
      expect(output).not.toContain("secret");
      expect(output).not.toContain("read");
    }
  });

  it("does not end the sandbox from within, nor takes it over", async () => {
    const script = "kill -9 1; kill -STOP 1; kill -9 -1; echo still here; cat /proc/1/environ | tr -d '\\0'";
    const { output, outcome } = await run(script);
    expect(output.replaceAll(/^.*No such process\n/gm, "")).toBe("still here\n");
    expect(outcome).toEqual({ kind: "exited", code: 0 });
  });

  it("gains nothing by a program that runs as its owner, nor by one without a name", async () => {
    writeFileSync(join(sandbox.base, "outside"), "");
    execFileSync("cp", ["/usr/bin/touch", join(inside, "touch")]);
    execFileSync("chmod", ["6755", join(inside, "touch")]);
    const program = `import os; f = os.memfd_create('x'); os.write(f, open('/usr/bin/touch', 'rb').read()); os.execv(f'/proc/self/fd/{f}', ['touch', '${sandbox.base}/new'])`;
    await run(`./touch ${sandbox.base}/new; su -c 'touch ${sandbox.base}/new' </dev/null; python3 -c "${program}"`);
    expect(readdirSync(sandbox.base).sort()).toEqual(["around", "outside"]);
    const { output } = await run("grep -h NoNewPrivs /proc/self/status; grep ' / ' /proc/self/mountinfo | head -1");
    expect(output).toMatch(/NoNewPrivs:\s+1\n.*\bnosuid,nodev\b/);
  });

  it("is bounded in nothing but its files: a FIFO outside can be written to, as Codex has it", async () => {
    const fifo = join(sandbox.base, "fifo");
    execFileSync("mkfifo", [fifo]);
    const reader = await sandbox.backend.start({
      argv: ["cat", fifo],
      cwd: "/",
      env: { PATH: process.env.PATH ?? "" },
      stdio: { kind: "pipe", stdin: "null" },
    });
    await run(`echo told > ${fifo}`);
    expect(await outputOf(reader)).toBe("told\n");
  });

  it("has the network, and not the FIFOs that are denied", async () => {
    const fifo = join(sandbox.base, "fifo");
    execFileSync("mkfifo", [fifo]);
    const listener = createServer((connection) => connection.end("reached\n")).listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    const connect = (entries: SandboxEntry[]) =>
      sandbox.script(`cat </dev/tcp/127.0.0.1/${port}; test -p ${fifo} && echo pipe`, {
        cwd: inside,
        sandbox: restrict([READ_ALL, ...entries], { network: "enabled" }),
      });
    expect((await connect([])).output).toBe("reached\npipe\n");
    const denied = await connect([pattern(join(sandbox.base, "f?fo"))]);
    listener.close();
    expect(denied.output).toBe("reached\n");
  });

  it.each(["first process", "wrapper"])(
    "ends with its program although somebody outside stopped its %s",
    async (which) => {
      const process = await sandbox.start(["sh", "-c", "echo ready; read line"], {
        cwd: inside,
        sandbox: restrict([READ_ALL, entry(inside, "write")]),
        stdio: { kind: "pipe", stdin: "open" },
      });
      await untilOutput(process, "ready");
      const [init] = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "latin1").split(" ").map(Number);
      kill(which === "wrapper" ? process.pid! : init!, "SIGSTOP");
      await process.write(Buffer.from("\n"));
      expect(await process.exited).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
      expect(process.denial?.reason).toContain("was stopped from outside");
    },
  );

  it("opens nothing by names that another command exchanges all the time", async () => {
    const outside = join(sandbox.base, "outside");
    mkdirSync(outside);
    mkdirSync(join(inside, "sub"));
    symlinkSync("../../outside", join(inside, "link"));
    const exchange = `import ctypes; c = ctypes.CDLL(None); print('ready', flush=True)
while True: c.renameat2(-100, b'sub', -100, b'link', 2)`;
    const entries = [entry(inside, "write"), entry(join(inside, "sub"), "write")];
    const other = await sandbox.start(["python3", "-c", exchange], {
      cwd: inside,
      sandbox: restrict([READ_ALL, entry(inside, "write")]),
    });
    await untilOutput(other, "ready");
    const answers = new Set<string>();
    for (let tries = 0; tries < 80; tries += 1) {
      const script = `echo x > ${inside}/sub/by-name; echo x > ${outside}/file; ls -A ${outside}`;
      const options = { cwd: "/", sandbox: restrict([READ_ALL, ...entries]) };
      answers.add(
        await sandbox.script(script, options).then(
          () => "ran",
          (error: { code: string }) => error.code,
        ),
      );
    }
    await other.terminate({ graceMs: 0 });
    await other.closed;
    expect(readdirSync(outside)).toEqual([]);
    expect([...answers].filter((answer) => answer !== "ran")).toEqual(["sandbox_invalid"]);
  });

  it("opens nothing by a link in place of a directory that was opened before", async () => {
    mkdirSync(join(sandbox.base, "outside"));
    symlinkSync("../../outside", join(inside, "sub"));
    const entries = [entry(inside, "write"), entry(join(inside, "sub"), "write")];
    await expect(run("touch sub/x", entries)).rejects.toMatchObject({ code: "sandbox_invalid" });
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(sandbox.base);
    expect(readdirSync(join(sandbox.base, "outside"))).toEqual([]);
  });
});
