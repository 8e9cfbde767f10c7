import { chmodSync, mkdtempSync, readlinkSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StartError } from "@codex/exec-backend";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENV, outputOf, STDIO, untilOutput, useBackend } from "../support.js";

describe.each(STDIO)("a process on $kind", (stdio) => {
  const host = useBackend();

  it("ends with its exit code and keeps its output", async () => {
    const process = await host.run(["sh", "-c", "echo $0; exit 3"], { stdio });
    expect(await process.exited).toEqual({ kind: "exited", code: 3 });
    expect(await outputOf(process)).toBe("sh\n");
    expect(process.log.complete).toBe(true);
  });

  it("sees exactly the environment it was given, odd names too", async () => {
    const env = { ...ENV, "foo.bar": "dot", "1X": "digit", EMPTY: "", SPACES: " a  b|" };
    const process = await host.run(["env"], { stdio, env });
    const lines = (await outputOf(process)).trimEnd().split("\n").sort();
    expect(lines).toEqual(
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}`)
        .sort(),
    );
  });

  it("runs in its directory, with arguments passed as they are", async () => {
    const process = await host.run(["sh", "-c", 'pwd; printf "<%s>" "$@"', "x", "a b", "", "*", "$HOME", "ü"], {
      stdio,
      cwd: "/usr",
    });
    expect(await outputOf(process)).toBe("/usr\n<a b><><*><$HOME><ü>");
  });

  it("leads a session and a group of its own", async () => {
    const process = await host.run(["sh", "-c", "ps -o pid=,pgid=,sid= -p $$"], { stdio });
    const [pid, pgid, sid] = (await outputOf(process)).trim().split(/\s+/).map(Number);
    expect(pid).toBe(process.pid);
    expect([pgid, sid]).toEqual([pid, pid]);
  });

  it("tells the signal it died of", async () => {
    const killed = await host.run(["sh", "-c", "kill -KILL $$"], { stdio });
    expect(await killed.exited).toEqual({ kind: "signaled", signal: "SIGKILL", by: "unknown" });
    const aborted = await host.run(["sh", "-c", "kill -ABRT $$"], { stdio });
    expect(await aborted.exited).toEqual({ kind: "signaled", signal: "SIGABRT", by: "self" });
  });

  it("answers the exit at once while a background child holds the output", async () => {
    const process = await host.run(["sh", "-c", "trap '' HUP; (trap '' HUP; sleep 300) & echo $!; exit 2"], { stdio });
    expect(await process.exited).toEqual({ kind: "exited", code: 2 });
    await untilOutput(process, "\n");
    expect(process.log.complete).toBe(false);
    const receipt = await process.terminate({ graceMs: 0 });
    expect(receipt).toMatchObject({ running: false, gone: true, outcome: { kind: "exited", code: 2 } });
    await process.closed;
  });

  it.runIf(process.platform === "linux")("hands no other descriptor on, of no other terminal either", async () => {
    const other = await host.run(["cat"], { stdio: { kind: "pty" } });
    const process = await host.run(["sh", "-c", "ls /proc/self/fd"], { stdio });
    // 3 is the directory that `ls` reads.
    expect((await outputOf(process)).trim().split(/\s+/)).toEqual(["0", "1", "2", "3"]);
    await other.terminate({ graceMs: 0 });
  });

  it("passes over directories of PATH that it cannot look into", async () => {
    const env = { PATH: `${"x".repeat(5_000)}:/etc/passwd:/usr/bin:/bin` };
    const process = await host.run(["true"], { stdio, env });
    expect(await process.exited).toEqual({ kind: "exited", code: 0 });
    // Nor do they say that something is in them.
    await expect(host.run(["no-such-program"], { stdio, env })).rejects.toMatchObject({ code: "program_not_found" });
  });

  it.each([
    [["no-such-program"], {}, "program_not_found", "`no-such-program`"],
    [["/no/such/program"], {}, "program_not_found", "`/no/such/program`"],
    [["/etc/passwd"], {}, "not_executable", "`/etc/passwd`"],
    [["/tmp"], {}, "not_executable", "`/tmp` is a directory"],
    [["/tmp/."], {}, "not_executable", "`/tmp/.` is a directory"],
    [["/dev/null"], {}, "not_executable", "`/dev/null` is not executable"],
    [[], {}, "empty_argv", "argv"],
    [[""], {}, "empty_argv", "argv[0]"],
    [["true", "a\0b"], {}, "nul_byte", "argv"],
    [["true"], { env: { A: "a\0b" } }, "nul_byte", '"A"'],
    [["true"], { env: { "A=B": "x" } }, "nul_byte", '"A=B"'],
    [["true"], { cwd: "relative" }, "cwd_not_absolute", "`relative`"],
    [["true"], { cwd: "/no/such/dir" }, "cwd_not_found", "`/no/such/dir`"],
    [["true"], { cwd: "/etc/passwd" }, "cwd_not_directory", "`/etc/passwd`"],
    [["true"], { cwd: "/etc/passwd/x" }, "os_error", "working directory `/etc/passwd/x` cannot be entered (ENOTDIR)"],
  ])("refuses to start %j %j: %s", async (argv, spec, code, named) => {
    const error = await host.run(argv, { stdio, ...spec }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StartError);
    expect(error).toMatchObject({ code, message: expect.stringContaining(named) });
  });

  it.skipIf(process.getuid?.() === 0)("names a working directory that this user cannot enter", async () => {
    const closed = mkdtempSync(join(tmpdir(), "codex closed-"));
    onTestFinished(() => rmdirSync(closed));
    chmodSync(closed, 0o600);
    const start = host.run(["true"], { stdio, cwd: closed });
    await expect(start).rejects.toThrow(`working directory \`${closed}\` cannot be entered (EACCES)`);
  });

  it.runIf(process.platform === "linux")("names the limit of an argument that is too long", async () => {
    const start = host.run(["true", "x".repeat(200_000)], { stdio });
    await expect(start).rejects.toThrow("an argument has 200000 bytes; the limit is 131071 bytes");
  });

  it.runIf(process.platform === "linux")("has every signal at its default and none blocked", async () => {
    const process = await host.run(["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"], { stdio });
    expect(await outputOf(process)).toBe("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  });

  it("may be a script that names no interpreter", async () => {
    const script = host.file("no-interpreter", 'echo "$1"; exit 4\n');
    const process = await host.run([script, "an argument"], { stdio });
    expect(await outputOf(process)).toBe("an argument\n");
    expect(await process.exited).toEqual({ kind: "exited", code: 4 });
  });

  it.runIf(process.platform === "linux")("is not started by an interpreter that is missing", async () => {
    const script = host.file("missing-interpreter", "#!/no/such/interpreter\n");
    await expect(host.run([script], { stdio })).rejects.toMatchObject({ code: "os_error" });
  });

  it("can be given another name", async () => {
    const process = await host.run(["sh", "-c", "ps -o args= -p $$"], { stdio, arg0: "renamed" });
    expect(await outputOf(process)).toMatch(/^renamed /);
  });

  it("is not started by a closed backend", async () => {
    await host.backend.close();
    await expect(host.run(["true"], { stdio })).rejects.toMatchObject({ code: "closed" });
  });
});

describe("pipes", () => {
  const host = useBackend();

  it("keep stdout and stderr apart, in the order of arrival", async () => {
    const process = await host.run(["sh", "-c", "echo out; sleep 0.05; echo err >&2; sleep 0.05; echo out2"]);
    await process.closed;
    const { chunks } = await process.log.read(0);
    expect(chunks.map((chunk) => [chunk.seq, chunk.stream, chunk.offset, chunk.bytes.toString()])).toEqual([
      [1, "stdout", 0, "out\n"],
      [2, "stderr", 4, "err\n"],
      [3, "stdout", 8, "out2\n"],
    ]);
  });

  it("can be opened by their names under /dev", async () => {
    const process = await host.run([
      "bash",
      "-c",
      "echo a >/dev/stdout; echo b >/dev/stderr; echo c | tee /dev/stderr",
    ]);
    expect((await outputOf(process)).split("\n").sort()).toEqual(["", "a", "b", "c", "c"]);
  });

  it("have /dev/null for stdin and no terminal", async () => {
    const process = await host.run(["sh", "-c", "cat; tty; exec 3<>/dev/tty"]);
    expect(await outputOf(process)).toMatch(/^not a tty\n.*\/dev\/tty/s);
    if (globalThis.process.platform === "linux") {
      const idle = await host.run(["sleep", "100"]);
      expect(readlinkSync(`/proc/${idle.pid}/fd/0`)).toBe("/dev/null");
      await idle.terminate({ graceMs: 0 });
    }
  });
});

describe("a terminal", () => {
  const host = useBackend();
  const stdio = { kind: "pty" } as const;

  it("is the controlling terminal, 24 × 80, and can be resized", async () => {
    const process = await host.run(
      ["bash", "-c", "trap 'stty size' WINCH; stty size; : >/dev/tty && echo ctty; read -r x; read -r x"],
      {
        stdio,
      },
    );
    await untilOutput(process, "ctty");
    await process.resize({ rows: 50, cols: 132 });
    await process.write(Buffer.from("\n"));
    await untilOutput(process, "50 132");
    await process.write(Buffer.from("\n"));
    expect(await outputOf(process)).toMatch(/^24 80\nctty\n/);
  });

  it("starts with the size it is given", async () => {
    const process = await host.run(["stty", "size"], { stdio: { kind: "pty", size: { rows: 7, cols: 9 } } });
    expect(await outputOf(process)).toBe("7 9\n");
  });

  it.each([0, -1, 1.5, 65_536, Number.NaN])("refuses %d rows", async (rows) => {
    const process = await host.run(["cat"], { stdio });
    await expect(process.resize({ rows, cols: 80 })).rejects.toMatchObject({ code: "bad_size" });
  });

  it("is what resize needs", async () => {
    const onPipes = await host.run(["sleep", "100"]);
    await expect(onPipes.resize({ rows: 24, cols: 80 })).rejects.toMatchObject({ code: "no_terminal" });
    const ended = await host.run(["true"], { stdio });
    await ended.closed;
    await expect(ended.resize({ rows: 24, cols: 80 })).rejects.toMatchObject({ code: "exited" });
  });
});
