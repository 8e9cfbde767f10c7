import {
  type ExecBackend,
  type ExecProcess,
  getExitCode,
  ProcessError,
  type ProcessSpec,
  StartError,
  WriteError,
} from "@codex/exec-backend";
import { communicate, wait } from "@codex/exec-server-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENV, joinBytes, outputOf, STDIO, untilOutput } from "../../../process-host/test/support.js";

export interface BackendUnderTest {
  open(): Promise<{ backend: ExecBackend; close(): Promise<void> }>;
  /** Codex 0.169.0 has none of these. */
  extended: boolean;
}

/** What holds for every backend, wherever its processes run. */
export function describeBackend(name: string, { open, extended }: BackendUnderTest): void {
  describe(name, () => {
    let opened: Awaited<ReturnType<BackendUnderTest["open"]>>;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened.backend.close();
      await opened.close();
    });
    const run = (argv: string[], spec: Partial<ProcessSpec> = {}): Promise<ExecProcess> =>
      opened.backend.start({ argv, cwd: "/tmp", env: ENV, stdio: { kind: "pipe", stdin: "null" }, ...spec });
    const codeOf = async (process: ExecProcess) => getExitCode(await wait(process));

    describe.each(STDIO)("a process on $kind", (stdio) => {
      it("ends with its exit code, and its output is complete", async () => {
        const process = await run(["sh", "-c", "echo one; echo two; exit 3"], { stdio });
        expect(await process.exited).toEqual({ kind: "exited", code: 3 });
        expect(await outputOf(process)).toBe("one\ntwo\n");
        expect(process.log.complete).toBe(true);
      });

      it("sees its arguments, its directory and its environment", async () => {
        const script = 'pwd; printf "<%s>" "$@" "$FOO"';
        const env = { ...ENV, FOO: "b=ä r" };
        const process = await run(["sh", "-c", script, "x", "a b", "", "$HOME", "ü"], { stdio, env, cwd: "/usr" });
        expect(await outputOf(process)).toBe("/usr\n<a b><><$HOME><ü><b=ä r>");
      });

      it("loses nothing of a burst", async () => {
        const process = await run(["sh", "-c", "head -c 700000 /dev/zero | tr '\\0' a; printf end"], { stdio });
        const output = await outputOf(process);
        expect(output.length).toBe(700_003);
        expect(output.endsWith("aend")).toBe(true);
      });

      it("is held back for who follows: more comes than is kept, and nothing is lost", async () => {
        const log = { headBytes: 0, tailBytes: 128 * 1024, spillBytes: 0 };
        const process = await run(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' b"], { stdio, log });
        let bytes = 0;
        for await (const chunk of process.log.follow({ windowBytes: 64 * 1024 })) {
          expect(chunk.offset).toBe(bytes);
          bytes += chunk.bytes.length;
        }
        expect(bytes).toBe(3_000_000);
      });

      it("is ended by SIGKILL", async () => {
        const process = await run(["sh", "-c", "trap '' TERM INT HUP; echo ready; while :; do sleep 1; done"], {
          stdio,
        });
        await untilOutput(process, "ready");
        const receipt = await process.terminate({ graceMs: 0 });
        expect(receipt).toMatchObject({ running: true, signals: ["SIGKILL"], gone: true });
        expect(process.outcome.kind).not.toBe("running");
        await process.closed;
        expect(await process.terminate()).toMatchObject({ running: false, signals: [] });
      });

      it("gets SIGINT with its group", async () => {
        const process = await run(
          ["sh", "-c", "trap 'echo caught; exit 7' INT; echo ready; while :; do sleep 0.01; done"],
          {
            stdio,
          },
        );
        await untilOutput(process, "ready");
        expect(await process.signal("SIGINT")).toBe(true);
        expect(await codeOf(process)).toBe(7);
        expect(await outputOf(process)).toContain("caught");
        expect(await process.signal("SIGINT")).toBe(false);
      });

      it.each([
        [["no-such-program"], {}, "program_not_found", "`no-such-program`"],
        [["/etc/passwd"], {}, "not_executable", "`/etc/passwd`"],
        [[], {}, "empty_argv", "argv"],
        [["true", "a\0b"], {}, "nul_byte", "argv"],
        [["true"], { cwd: "relative" }, "cwd_not_absolute", "`relative`"],
        [["true"], { cwd: "/no/such/dir" }, "cwd_not_found", "`/no/such/dir`"],
        [["true"], { cwd: "/etc/passwd" }, "cwd_not_directory", "`/etc/passwd`"],
      ])("is not started from %j %j: %s", async (argv, spec, code, named) => {
        const error = await run(argv, { stdio, ...spec }).catch((reason: unknown) => reason);
        expect(error).toBeInstanceOf(StartError);
        expect(error).toMatchObject({ code, message: expect.stringContaining(named) });
      });
    });

    it("keeps stdout and stderr apart", async () => {
      const process = await run(["sh", "-c", "echo out; echo err >&2"]);
      await process.closed;
      const { chunks } = await process.log.read(0);
      const of = (stream: string) => joinBytes(chunks.filter((chunk) => chunk.stream === stream)).toString();
      expect([of("stdout"), of("stderr")]).toEqual(["out\n", "err\n"]);
    });

    it("takes input in the order of the writes", async () => {
      const process = await run(["head", "-c", "600006"], { stdio: { kind: "pipe", stdin: "open" } });
      const parts = [Buffer.from("a\n"), Buffer.alloc(600_000, "x"), Buffer.from("bcd\n")];
      await Promise.all(parts.map((part) => process.write(part)));
      await process.closed;
      const output = joinBytes((await process.log.read(0)).chunks);
      expect(output.equals(Buffer.concat(parts))).toBe(true);
      await expect(process.write(Buffer.from("late"))).rejects.toMatchObject({
        code: expect.stringMatching(/^(exited|stdin_closed)$/),
        written: 0,
      });
    });

    it("can be ended while it does not read its input", async () => {
      const process = await run(["sh", "-c", "echo ready; exec sleep 300"], { stdio: { kind: "pipe", stdin: "open" } });
      await untilOutput(process, "ready");
      const writing = process.write(Buffer.alloc(64 * 1024 * 1024)).then(
        () => "taken",
        (error: unknown) => error,
      );
      const receipt = await process.terminate({ graceMs: 0 });
      expect(receipt).toMatchObject({ running: true, gone: true });
      // Codex 0.169.0 takes what a program has not read and never will.
      expect(["taken", "WriteError"]).toContain(nameOf(await writing));
    });

    it("refuses input where there is none", async () => {
      const process = await run(["sleep", "30"]);
      const error = await process.write(Buffer.from("x")).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(WriteError);
      expect(error).toMatchObject({ code: "stdin_closed", written: 0 });
      await process.terminate({ graceMs: 0 });
    });

    it("talks with a terminal and ends its input", async () => {
      const process = await run(["sh", "-c", "cat; echo over"], { stdio: { kind: "pty" } });
      await process.write(Buffer.from("hello\n"));
      await untilOutput(process, "hello\r\nhello\r\n");
      await process.closeStdin();
      expect(await codeOf(process)).toBe(0);
      expect(await outputOf(process)).toContain("over");
    });

    it("refuses a size on pipes", async () => {
      const process = await run(["sleep", "30"]);
      await expect(process.resize({ rows: 10, cols: 10 })).rejects.toMatchObject({ code: "no_terminal" });
      await process.terminate({ graceMs: 0 });
    });

    it("tells the exit while a child holds the output", async () => {
      const process = await run(["sh", "-c", "(sleep 0.3; echo late) & echo now; exit 2"]);
      expect(await process.exited).toEqual({ kind: "exited", code: 2 });
      expect(await outputOf(process)).toBe("now\nlate\n");
    });

    it("starts many at once", async () => {
      const processes = await Promise.all(
        Array.from({ length: 150 }, (_, index) => run(["sh", "-c", `exit ${index % 7}`])),
      );
      const codes = await Promise.all(processes.map(codeOf));
      expect(codes).toEqual(processes.map((_, index) => index % 7));
    });

    if (extended) describeExtended(run);
    else describeMissing(run);

    it("starts nothing once it is closed, and has ended what ran", async () => {
      const own = await open();
      const process = await own.backend.start({
        argv: ["sleep", "30"],
        cwd: "/tmp",
        env: ENV,
        stdio: { kind: "pipe", stdin: "null" },
      });
      await own.backend.close();
      expect(["exited", "signaled"]).toContain(process.outcome.kind);
      const start = own.backend.start({ argv: ["true"], cwd: "/tmp", env: ENV, stdio: { kind: "pty" } });
      await expect(start).rejects.toMatchObject({ code: "closed" });
      await own.close();
    });
  });
}

const nameOf = (result: unknown): unknown => (result instanceof Error ? result.name : result);

type Run = (argv: string[], spec?: Partial<ProcessSpec>) => Promise<ExecProcess>;

function describeExtended(run: Run): void {
  it("gives a program its whole input", async () => {
    const process = await run(["sh", "-c", "wc -c; echo err >&2"], { stdio: { kind: "pipe", stdin: "open" } });
    const { outcome, stdout, stderr, evicted } = await communicate(process, Buffer.alloc(1_000_000, "y"));
    expect(outcome).toEqual({ kind: "exited", code: 0 });
    expect([stdout.toString().trim(), stderr.toString(), evicted]).toEqual(["1000000", "err\n", []]);
  });

  it("has a terminal of the given size, and another later", async () => {
    const process = await run(["sh", "-c", "trap 'stty size; exit 4' WINCH; stty size; while :; do sleep 0.01; done"], {
      stdio: { kind: "pty", size: { rows: 12, cols: 34 } },
    });
    await untilOutput(process, "12 34");
    await process.resize({ rows: 20, cols: 40 });
    await process.exited;
    expect(await outputOf(process)).toContain("20 40");
  });

  it("asks before it kills", async () => {
    const process = await run(["sh", "-c", "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done"]);
    await untilOutput(process, "ready");
    const receipt = await process.terminate({ graceMs: 5_000 });
    expect(receipt).toMatchObject({ running: true, signals: ["SIGTERM"], gone: true });
    expect(await process.exited).toEqual({ kind: "exited", code: 9 });
  });

  it("sends SIGTERM and SIGHUP", async () => {
    for (const [signal, code] of [
      ["SIGTERM", 15],
      ["SIGHUP", 1],
    ] as const) {
      const process = await run([
        "sh",
        "-c",
        "trap 'exit 15' TERM; trap 'exit 1' HUP; echo r; while :; do sleep 0.01; done",
      ]);
      await untilOutput(process, "r");
      expect(await process.signal(signal)).toBe(true);
      expect(await process.exited).toEqual({ kind: "exited", code });
    }
  });
}

function describeMissing(run: Run): void {
  it("says what it cannot do", async () => {
    const pipe = await run(["sleep", "30"], { stdio: { kind: "pipe", stdin: "open" } });
    const terminal = await run(["sleep", "30"], { stdio: { kind: "pty" } });
    const refusals = await Promise.allSettled([
      pipe.closeStdin(),
      pipe.signal("SIGTERM"),
      pipe.signal("SIGHUP"),
      terminal.resize({ rows: 10, cols: 10 }),
    ]);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: "rejected", reason: { code: "unsupported" } });
      if (refusal.status === "rejected") expect(refusal.reason).toBeInstanceOf(ProcessError);
    }
    await Promise.all([pipe.terminate(), terminal.terminate()]);
  });
}
