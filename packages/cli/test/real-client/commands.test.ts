import { describe, expect, it } from "vitest";
import { exec, inTurn, openTerminal, outputOf, sessionOf, type, typeUntil } from "./calls.js";
import { expectNumbers, NUMBERS, PRINT_NUMBERS, sha256 } from "./numbers.js";
import { CODEX_BINARY, useRealClient } from "./support.js";

function isGroupAlive(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch {
    return false;
  }
}

describe.skipIf(CODEX_BINARY === undefined)("commands of the real client (needs CODEX_BINARY)", () => {
  const client = useRealClient();

  it("tells output, errors, exit code and directory", async () => {
    const results: string[] = [];
    await client.run(
      inTurn([exec("pwd; echo err >&2; exit 3"), exec("no-such-program"), exec("pwd", { workdir: "/" })], results),
    );
    expect(results[0]).toContain("Process exited with code 3");
    // Two pipes: which line comes first is open.
    expect(outputOf(results[0]!).split("\n").sort()).toEqual(["", client.directory, "err"]);
    expect(results[1]).toMatch(/code 127\n.*no-such-program.*not found/s);
    expect(outputOf(results[2]!)).toBe("/\n");
  });

  it("polls a running command to its end", async () => {
    const results: string[] = [];
    await client.run(
      (function* () {
        results.push(
          yield exec("echo first; until [ -e go ]; do sleep 0.02; done; echo last; exit 5", { yield_time_ms: 500 }),
        );
        client.write("go", "");
        results.push(yield type(sessionOf(results[0]!), "", { yield_time_ms: 30_000 }));
      })(),
    );
    expect(outputOf(results[0]!)).toBe("first\n");
    expect(results[1]).toContain("Process exited with code 5");
    expect(outputOf(results[1]!)).toBe("last\n");
  });

  it("interrupts a command on pipes", async () => {
    let result = "";
    await client.run(
      (function* () {
        const started = yield exec("trap 'echo caught; exit 9' INT; while :; do sleep 0.05; done", {
          yield_time_ms: 500,
        });
        result = yield type(sessionOf(started), "\u0003", { yield_time_ms: 30_000 });
      })(),
    );
    expect(result).toContain("Process exited with code 9");
    expect(outputOf(result)).toBe("caught\n");
  });

  it("ends what still runs when it ends itself", async () => {
    let result = "";
    await client.run(
      (function* () {
        result = yield exec("echo pid=$$; sleep 1000 & wait", { yield_time_ms: 500 });
      })(),
    );
    const pid = Number(/pid=(\d+)/.exec(result)?.[1]);
    await expect.poll(() => isGroupAlive(pid)).toBe(false);
  });

  it("types into bash on a terminal, and interrupts what runs in it", async () => {
    const seen: string[] = [];
    await client.run(
      (function* () {
        const bash = yield* openTerminal("PS1='ready> ' bash --norc -i", /ready> /);
        seen.push(yield* typeUntil(bash, "tty -s && export X=7; echo v=$X\n", /v=7\r\n/));
        yield* typeUntil(bash, "echo sleep''ing; sleep 100\n", /^sleeping/m);
        seen.push(yield* typeUntil(bash, "\u0003", /ready> /));
        seen.push(yield* typeUntil(bash, "echo rc=$?\n", /rc=\d+\r\n/));
        seen.push(yield type(bash, "exit 4\n", { yield_time_ms: 30_000 }));
      })(),
    );
    expect(seen[0]).toContain("v=7\r\n");
    expect(seen[1]).toContain("^C");
    expect(seen[2]).toContain("rc=130\r\n");
    expect(seen[3]).toContain("Process exited with code 4");
  });

  it("types into python, and interrupts it", async () => {
    const seen: string[] = [];
    await client.run(
      (function* () {
        const python = yield* openTerminal("TERM=dumb python3 -q", />>> /);
        seen.push(yield* typeUntil(python, "print(6 * 7)\n", /^42\r?\n/m));
        yield* typeUntil(python, "import time; print('sleep' + 'ing'); time.sleep(100)\n", /^sleeping/m);
        seen.push(yield* typeUntil(python, "\u0003", />>> /));
        seen.push(yield type(python, "exit(6)\n", { yield_time_ms: 30_000 }));
      })(),
    );
    expect(seen[0]).toMatch(/^42\r?\n/m);
    expect(seen[1]).toContain("KeyboardInterrupt");
    expect(seen[2]).toContain("Process exited with code 6");
  });

  it("counts five megabytes to the byte, and keeps both ends of them", async () => {
    const results: string[] = [];
    await client.run(inTurn([exec(PRINT_NUMBERS)], results));
    expectNumbers(results[0]!);
  });

  it("carries five megabytes unchanged to five clients at once", async () => {
    const pieces = await Promise.all(
      [1, 1_000_001, 2_000_001, 3_000_001, 4_000_001].map(async (first) => {
        const results: string[] = [];
        await client.run(inTurn([exec(`seq 1000000 | tail -c +${first} | head -c 1000000`)], results));
        return outputOf(results[0]!);
      }),
    );
    expect(sha256(pieces.join(""))).toBe(sha256(NUMBERS));
  });
});
