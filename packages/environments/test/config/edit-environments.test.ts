import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addEnvironment, listIds, loadEnvironments, removeEnvironment } from "../../src/index.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "codex home "));
});
afterEach(() => rmSync(home, { recursive: true }));

const list = async () => listIds(await loadEnvironments({ home, env: {} }));
const read = (name: string) => readFileSync(join(home, name), "utf8");

describe("two edits at once", () => {
  it("lose nothing", async () => {
    await Promise.all(Array.from({ length: 8 }, (_, at) => addEnvironment(home, { id: `e${at}`, url: "ws://h:1" })));
    await Promise.all([0, 1, 2].map((at) => removeEnvironment(home, `e${at}`)));
    expect((await list()).filter((id) => id !== "local").sort()).toEqual(["e3", "e4", "e5", "e6", "e7"]);
    expect(readdirSync(home)).toEqual(["environments.toml"]);
  });
});

describe("comments", () => {
  it("of neighbors stay when an environment is removed", async () => {
    const text = ["a", "b", "c"]
      .map((id) => `# about ${id}\n[[environments]]\nid = "${id}" # the id\nurl = "ws://${id}:1"\n# its end: ${id}\n`)
      .join("\n");
    writeFileSync(join(home, "environments.toml"), `# the team's\n\n${text}`);
    await removeEnvironment(home, "b");
    const after = read("environments.toml");
    for (const kept of ["# the team's", "# about a", "# its end: a", "# about c", "# its end: c"]) {
      expect(after).toContain(kept);
    }
    expect(after).not.toContain("ws://b:1");
    expect(await list()).toEqual(["local", "a", "c"]);
    await removeEnvironment(home, "c");
    expect(read("environments.toml")).toContain("# about a");
  });
});

describe("adding an environment", () => {
  it.each([
    ["", ""],
    ['default = "b"\r\n', ""],
    ['default = "b" # mine\n', "\r\n# mixed\n"],
  ])("keeps the line ends of a file with a byte order mark (%j)", async (first, last) => {
    const own = `[[environments]]\r\nid = "b"\r\nprogram = "cat"\r\n${last}`;
    writeFileSync(join(home, "environments.toml"), `\ufeff${first}${own}`);
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" }, true);
    expect(await list()).toEqual(["a", "local", "b"]);
    const text = read("environments.toml");
    expect(text).toContain(`\n${own}`);
    expect(text).toMatch(/\r\n\[\[environments\]\]\r\nid = "a"\r\nurl = .*\r\n$/);
    expect(text).toContain('default = "a"');
  });

  it("writes to environments.toml, or to environments-ts.toml if Codex would reject it", async () => {
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" }, true);
    await addEnvironment(home, { id: "p", program: "x", args: ['a "b"', "\x7f"], env: { "A B": "c\nd" } });
    await addEnvironment(home, { id: "s", url: "ssh://me@box/srv", fallback: "a" });
    expect(await list()).toEqual(["a", "local", "p", "s"]);
    expect([read("environments.toml").includes("ssh"), statSync(join(home, "environments.toml")).mode & 0o777]).toEqual(
      [false, 0o600],
    );
    const { environments } = await loadEnvironments({ home, env: {} });
    expect(environments[1]).toMatchObject({ args: ['a "b"', "\x7f"], env: { "A B": "c\nd" } });
  });

  it("replaces the default", async () => {
    writeFileSync(join(home, "environments.toml"), '# mine\ndefault = "none"\n');
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" }, true);
    expect([await list(), read("environments.toml").split("\n", 1)]).toEqual([["a", "local"], ["# mine"]]);
  });

  it("changes the file that a link names, and keeps the link", async () => {
    const real = join(home, "dotfile.toml");
    writeFileSync(real, "# mine\n");
    symlinkSync(real, join(home, "environments.toml"));
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" });
    expect(lstatSync(join(home, "environments.toml")).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toMatch(/^# mine\n.*id = "a"/s);
  });

  it("refuses a file that cannot be read: it would be replaced", async () => {
    mkdirSync(join(home, "environments.toml"));
    const added = addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" });
    await expect(added).rejects.toThrow(`${join(home, "environments.toml")}: it cannot be read: it is a directory`);
  });

  it.skipIf(process.getuid?.() === 0)("names a file that cannot be written", async () => {
    chmodSync(home, 0o500);
    const added = addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" });
    const failure = await added.catch(String).finally(() => chmodSync(home, 0o700));
    expect(failure).toContain(`${join(home, "environments.toml")}: it cannot be written: EACCES`);
  });

  it("writes nothing that is invalid", async () => {
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" });
    const before = read("environments.toml");
    for (const added of [
      { id: "a", url: "ws://h" },
      { id: "b", url: "http://h" },
      { id: "none", program: "x" },
    ]) {
      const failure = await addEnvironment(home, added).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: "EnvironmentsConfigError" });
      expect(String(failure)).toContain(join(home, "environments.toml"));
      if (added.id === "a") expect(String(failure)).toContain(`has it, at ${join(home, "environments.toml")}:1`);
    }
    expect(read("environments.toml")).toBe(before);
  });
});

describe("removing an environment", () => {
  it("leaves no empty file, which would take precedence over CODEX_EXEC_SERVER_URL", async () => {
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" });
    await addEnvironment(home, { id: "s", url: "ssh://box" });
    await removeEnvironment(home, "a");
    await removeEnvironment(home, "s");
    expect(readdirSync(home)).toEqual([]);
    const { default: chosen } = await loadEnvironments({ home, env: { CODEX_EXEC_SERVER_URL: "ws://127.0.0.1:1" } });
    expect(chosen).toBe("remote");
  });

  it("leaves neither an empty file behind a link nor the link", async () => {
    const real = join(home, "dotfile.toml");
    writeFileSync(real, "");
    symlinkSync(real, join(home, "environments.toml"));
    await addEnvironment(home, { id: "a", url: "ws://127.0.0.1:1" });
    await removeEnvironment(home, "a");
    expect(readdirSync(home)).toEqual([]);
  });

  it("removes its tables and nothing else", async () => {
    const rest =
      '# first\n[[environments]]\nid = "a"\nurl = "ws://h"\n\n[[environments]]\nid = "c"\nprogram = "x"\n[environments.env]\nA = "b"\n';
    writeFileSync(
      join(home, "environments.toml"),
      rest.replace(
        '[[environments]]\nid = "c"',
        '[[environments]]\nid = "b"\nprogram = "x"\n[environments.env]\nA = "[b]"\n[[environments]]\nid = "c"',
      ),
    );
    writeFileSync(join(home, "environments-ts.toml"), '[extend.b]\nfallback = "a"\n[extend.a]\neager = true\n');
    expect(await removeEnvironment(home, "b")).toHaveLength(2);
    expect([read("environments.toml"), read("environments-ts.toml")]).toEqual([rest, "[extend.a]\neager = true\n"]);
    expect(await removeEnvironment(home, "b")).toEqual([]);
  });

  it("refuses the default, and writes nothing then", async () => {
    await addEnvironment(home, { id: "a", url: "ws://h" }, true);
    await expect(removeEnvironment(home, "a")).rejects.toThrow(
      /`default` is "a"; name another one, or remove this line, first/,
    );
    expect(await list()).toEqual(["a", "local"]);
  });
});
