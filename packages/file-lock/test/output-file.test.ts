import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { OutputFileError, type OutputFileOptions, openOutputFile, openOutputFileSync } from "../src/output-file.js";

// Not below a temporary directory or the current one, where commands may create links.
const HOME = realpathSync(process.env.HOME ?? "/");
const noHome = [tmpdir(), "/tmp", "/var/tmp", process.cwd()].some((root) => HOME.startsWith(root) || HOME === "/")
  ? "the home directory is temporary"
  : undefined;
let root: string;
let outside: string;

beforeEach(() => {
  root = mkdtempSync(join(realpathSync(tmpdir()), "output file-"));
  outside = join(root, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "mine"), "mine");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const openers = {
  openOutputFile: async (path: string, options?: OutputFileOptions) => {
    const file = await openOutputFile(path, options);
    await file.write("text");
    await file.close();
  },
  openOutputFileSync: async (path: string, options?: OutputFileOptions) => {
    const fd = openOutputFileSync(path, options);
    writeSync(fd, "text");
    closeSync(fd);
  },
};

describe.each(Object.entries(openers))("%s", (_name, write) => {
  it("creates a file, replaces one, and appends, with the mode of the caller", async () => {
    const file = join(root, "a b");
    await write(file, { mode: 0o600 });
    await write(file, { flags: "a" });
    expect(readFileSync(file, "utf8")).toBe("texttext");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await write(file);
    expect(readFileSync(file, "utf8")).toBe("text");
    await expect(write(file, { flags: "wx" })).rejects.toThrow(`EEXIST: file already exists, open '${file}'`);
    await expect(write(join(root, "no", "file"))).rejects.toThrow(/ENOENT.*no/);
  });

  it.each(["w", "wx", "a", "a+", "ax", "r+"] as const)(
    "writes through no link that has its name (%s)",
    async (flags) => {
      for (const [name, target] of [
        ["existing", join(outside, "mine")],
        ["dangling", join(outside, "new")],
      ] as const) {
        const link = join(root, name);
        symlinkSync(target, link);
        const refused = flags.endsWith("x") ? /EEXIST/ : /is a symbolic link to .*outside.*name the target/;
        await expect(write(link, { flags })).rejects.toThrow(refused);
      }
      expect([readFileSync(join(outside, "mine"), "utf8"), existsSync(join(outside, "new"))]).toEqual(["mine", false]);
    },
  );

  it("follows no link at a directory below a temporary one, however often it is linked", async () => {
    symlinkSync("outside", join(root, "first"));
    symlinkSync(join(root, "first"), join(root, "second"));
    for (const name of ["first", "second"]) {
      await expect(write(join(root, name, "mine"))).rejects.toThrow(OutputFileError);
    }
    symlinkSync("loop", join(root, "loop"));
    await expect(write(join(root, "loop", "file"))).rejects.toThrow(/ELOOP/);
    expect(readFileSync(join(outside, "mine"), "utf8")).toBe("mine");
  });

  it.skipIf(noHome !== undefined)(
    `follows a link at a directory where no command may create one${noHome === undefined ? "" : `: ${noHome}`}`,
    async () => {
      const home = mkdtempSync(join(HOME, ".codex-output-"));
      try {
        mkdirSync(join(home, "real"));
        symlinkSync(join(home, "real"), join(home, "link"));
        await write(join(home, "link", "file"));
        expect(readFileSync(join(home, "real", "file"), "utf8")).toBe("text");
        await expect(write(join(home, "link", "file"), { open: [home] })).rejects.toThrow("is a symbolic link to");
      } finally {
        rmSync(home, { recursive: true });
      }
    },
  );

  it("waits for no reader of a FIFO, and writes into no directory", async () => {
    execFileSync("mkfifo", [join(root, "fifo")]);
    await expect(write(join(root, "fifo"))).rejects.toThrow("is not a regular file");
    await expect(write(outside)).rejects.toThrow(/EISDIR/);
  });

  it("writes to what the system links to this process", async () => {
    const file = join(root, "file");
    const fd = openOutputFileSync(file);
    await write(`/dev/fd/${fd}`, { flags: "a" });
    closeSync(fd);
    await write("/dev/null");
    expect(readFileSync(file, "utf8")).toBe("text");
    linkSync(file, join(root, "other"));
    await write(join(root, "other"));
  });
});
