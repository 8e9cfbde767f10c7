import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MAX_SOCKET_PATH_BYTES } from "../../src/background/limits.js";
import { openSocketPlace } from "../../src/background/socket-place.js";
import { placeIn, useDirectories } from "./support.js";

const makeDirectory = useDirectories();

it("is in a directory of mode 700 in the runtime directory", () => {
  const runtime = makeDirectory();
  const place = placeIn(runtime);
  expect(place.path).toBe(join(runtime, "codex-ts", "server.sock"));
  expect(statSync(join(runtime, "codex-ts")).mode & 0o777).toBe(0o700);
  expect(placeIn(runtime)).toEqual(place);
});

it.each([
  ["no runtime directory", undefined],
  ["a relative one", "run"],
  ["one that does not exist", "/nonexistent/run"],
])("is below the directory for temporary files with %s", (_name, directory) => {
  const { path } = openSocketPlace("server", { env: { XDG_RUNTIME_DIR: directory } });
  expect(path).toBe(join(tmpdir(), `codex-ts-${process.getuid?.()}`, "server.sock"));
});

it("does not use the runtime directory of another user", () => {
  const uid = process.getuid!() + 1;
  const directory = join(tmpdir(), `codex-ts-${uid}`);
  try {
    expect(() => openSocketPlace("server", { env: { XDG_RUNTIME_DIR: makeDirectory() }, uid })).toThrow(
      `${directory} belongs to user ${process.getuid!()}, not to user ${uid}`,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

it.each([
  ["does not exist", "missing", "a directory of its path does not exist"],
  ["is a file", "file", "what is above is not a directory"],
])("says what to set where the directory for temporary files %s", (_name, name, why) => {
  const directory = join(makeDirectory(), name);
  if (name === "file") writeFileSync(directory, "");
  const before = process.env.TMPDIR;
  process.env.TMPDIR = directory;
  try {
    expect(() => openSocketPlace("server", { env: {} })).toThrow(
      new RegExp(`cannot be created: ${why}; set XDG_RUNTIME_DIR to .*, or TMPDIR to one that you may write$`),
    );
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
});

it("is refused where other users have access", () => {
  const runtime = makeDirectory();
  mkdirSync(join(runtime, "codex-ts"));
  chmodSync(join(runtime, "codex-ts"), 0o750);
  expect(() => placeIn(runtime)).toThrow("has mode 750, and 700 is needed");
});

it("is refused where the directory is a symbolic link", () => {
  const runtime = makeDirectory();
  symlinkSync(makeDirectory(), join(runtime, "codex-ts"));
  expect(() => placeIn(runtime)).toThrow("codex-ts is not a directory");
});

it("is refused where its path is too long", () => {
  const runtime = join(makeDirectory(), "x".repeat(MAX_SOCKET_PATH_BYTES));
  mkdirSync(runtime);
  expect(() => placeIn(runtime)).toThrow(`at most ${MAX_SOCKET_PATH_BYTES}`);
});
