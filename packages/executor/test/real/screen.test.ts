import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../support/client.js";
import { errorOf } from "../support/client.js";
import { hasProgram } from "../support/programs.js";
import { idOf, useRealHosts } from "../support/real-host.js";

const ENV = {
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  HOME: process.env.HOME ?? "/",
  TERM: "xterm-256color",
  LC_ALL: "C.UTF-8",
  PS1: "$ ",
};

interface Shown {
  text: string;
  screen: { rows: string[]; alternate: boolean; title: string; size: object; cursor: object; upTo: number };
}

describe("the screen of", () => {
  const open = useRealHosts();
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "screen-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const start = async (client: Client, command: string[], size = { rows: 24, cols: 80 }) =>
    idOf(await client.exec({ command, env: { ...ENV, HOME: dir }, cwd: dir, tty: true, size, yieldTimeMs: 0 }));

  it.skipIf(!hasProgram("vim"))("vim (needs vim)", async () => {
    writeFileSync(join(dir, "notes.txt"), "first line\nsecond line\n");
    const client = open();
    const id = await start(client, ["vim", "-u", "NONE", "-i", "NONE", "notes.txt"]);
    const before = await untilShown(client, id, ({ text }) => /second line\n~/.test(text));
    expect(before.screen.rows.slice(0, 3)).toEqual(["first line", "second line", "~"]);
    expect(before.screen.alternate).toBe(true);
    expect(before.text).toMatch(new RegExp(`^Session ${id}: 24 rows, 80 columns, alternate screen\nProcess running`));
    await client.write({ processId: id, input: "jA, longer\u001b", yieldTimeMs: 0 });
    const after = await untilShown(client, id, ({ text }) => text.includes("second line, longer"));
    expect(after.screen.rows[1]).toBe("second line, longer");
    await client.write({ processId: id, resize: { rows: 10, cols: 40 }, yieldTimeMs: 0 });
    const small = await untilShown(client, id, ({ screen }) => screen.rows[8] === "~" && screen.rows.length <= 10);
    expect(small.screen.size).toEqual({ rows: 10, cols: 40 });
    expect((await client.write({ processId: id, input: "\u001b:wq\r" })).result.exitCode).toBe(0);
  });

  it.skipIf(!hasProgram("less"))("less (needs less)", async () => {
    writeFileSync(join(dir, "long.txt"), Array.from({ length: 500 }, (_, line) => `line ${line + 1}\n`).join(""));
    const client = open();
    const id = await start(client, ["less", "long.txt"]);
    const top = await untilShown(client, id, ({ screen }) => screen.rows[23] === "long.txt");
    expect(top.screen.rows.slice(0, 23)).toEqual(Array.from({ length: 23 }, (_, row) => `line ${row + 1}`));
    await client.write({ processId: id, input: "G", yieldTimeMs: 0 });
    const end = await untilShown(client, id, ({ text }) => text.includes("(END)"));
    expect(end.screen.rows[22]).toBe("line 500");
    expect((await client.write({ processId: id, input: "q" })).result.exitCode).toBe(0);
  });

  it.skipIf(!hasProgram("top"))("top (needs top)", async () => {
    const client = open();
    const id = await start(client, ["top", "-d", "100"], { rows: 30, cols: 120 });
    const { screen } = await untilShown(client, id, ({ text }) => /PID +USER.*COMMAND/.test(text));
    expect(screen.rows[0]).toMatch(/^top - /);
    expect((await client.write({ processId: id, input: "q" })).result.exitCode).toBe(0);
  });

  it("a shell that draws over what it wrote", async () => {
    const client = open();
    const script = `printf 'loading 10%%'; printf '\\r\\033[Kdone\\n'; printf '\\033]0;my title\\007'; read x`;
    const id = await start(client, ["bash", "-c", script]);
    const { screen, text } = await untilShown(client, id, ({ screen }) => screen.title === "my title");
    expect(screen.rows).toEqual(["done"]);
    expect(text).toContain("\nTitle: my title\nCursor: row 2, column 1\nScreen:\ndone");
    await client.write({ processId: id, input: "\n" });
  });

  it("a session that is not there, or not named, does not exist", async () => {
    const client = open();
    expect(errorOf(await client.call("read_screen", { session_id: 99_998 }))).toMatch(/^unknown session 99998/);
    expect(errorOf(await client.call("read_screen", {}))).toMatch(/^argument `session_id` is missing/);
  });

  it("a session that has ended, while its output is kept", async () => {
    const client = open();
    const command = ["sh", "-c", "seq 1 20000; echo end; read x"];
    const id = await start(client, command);
    await client.write({ processId: id, input: "\n", maxOutputTokens: 10 });
    const { text, screen } = await readScreen(client, id);
    expect(text).toContain("\nProcess exited with code 0\n");
    expect(screen.rows.slice(-3)).toEqual(["19999", "20000", "end"]);
  });

  it("a session on pipes does not exist", async () => {
    const client = open();
    const id = idOf(await client.exec({ command: ["cat"], stdin: "open", yieldTimeMs: 0 }));
    const message = errorOf(await client.call("read_screen", { session_id: id }));
    expect(message).toBe(
      `session ${id} has no screen: it runs on pipes; read_output reads its output, and tty=true gives a command a terminal`,
    );
  });

  it("more sessions than are kept is made anew", async () => {
    const client = open({ limits: { screens: 1 } });
    const ids = await Promise.all(["one", "two"].map((name) => start(client, ["sh", "-c", `echo ${name}; read x`])));
    for (const round of [1, 2]) {
      for (const [index, id] of ids.entries()) {
        const { screen } = await untilShown(client, id, ({ text }) => !text.endsWith("Screen:\n"));
        expect([round, screen.rows]).toEqual([round, [index === 0 ? "one" : "two"]]);
      }
    }
  });

  it("a flood is what its end left", async () => {
    const client = open();
    const id = await start(client, ["sh", "-c", "seq 1 2500000; printf 'the end'; read x"]);
    let seen = "";
    while (!seen.endsWith("the end")) {
      const { output } = await client.write({ processId: id, until: "output", maxOutputTokens: 100 });
      seen = output || seen;
    }
    const { screen, text } = await readScreen(client, id);
    expect(screen.rows.slice(-2)).toEqual(["2500000", "the end"]);
    expect(text).toMatch(/\nBytes \d+-\d+ of its output are gone: their effect on the screen is missing\nScreen:\n/);
  });
});

async function readScreen(client: Client, id: number): Promise<Shown> {
  let outcome = await client.call("read_screen", { session_id: id });
  // Rendering has a time limit, which a busy machine exceeds.
  while (outcome.status !== "success" && outcome.message.endsWith("call again to continue from there")) {
    outcome = await client.call("read_screen", { session_id: id });
  }
  if (outcome.status !== "success") throw new Error(outcome.message);
  return { text: outcome.content[0]!.text, screen: outcome.structured as unknown as Shown["screen"] }; // our own answer
}

/** Looks again whenever there was output. */
async function untilShown(client: Client, id: number, fits: (shown: Shown) => boolean): Promise<Shown> {
  for (;;) {
    const shown = await readScreen(client, id);
    if (fits(shown)) return shown;
    const { result } = await client.write({ processId: id, until: "output" });
    if (result.closed) throw new Error(`the session ended with this screen:\n${shown.text}`);
  }
}
