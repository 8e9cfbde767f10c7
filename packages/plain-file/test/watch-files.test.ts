import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { watchFiles } from "../src/index.js";

function start() {
  const directory = mkdtempSync(join(tmpdir(), "watched file-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "tokens");
  const errors: unknown[] = [];
  let now = 0;
  const parse = (text: string) => {
    if (text.includes("wrong")) throw new Error("line 1 is wrong");
    return text;
  };
  return {
    path,
    errors,
    open: () =>
      watchFiles({
        paths: [path],
        maxBytes: 20,
        parse,
        log: { error: (_message, fields) => void errors.push(fields) },
        now: () => now,
      }),
    pass: (ms: number) => {
      now += ms;
    },
  };
}

it("reads a file again when it has changed, and looks once a second at most", () => {
  const { path, open, pass } = start();
  writeFileSync(path, "one");
  const read = open();
  writeFileSync(path, "second");
  pass(999);
  expect(read()).toBe("one");
  pass(1);
  expect(read()).toBe("second");
});

it("keeps what it had when the file becomes wrong, too large or unreadable, and reports each once", () => {
  const { path, errors, open, pass } = start();
  writeFileSync(path, "one");
  const read = open();
  for (const spoil of [() => writeFileSync(path, "wrong"), () => writeFileSync(path, "x".repeat(21))]) {
    spoil();
    for (let looks = 0; looks < 3; looks += 1) {
      pass(1000);
      expect(read()).toBe("one");
    }
  }
  expect(errors).toEqual([
    { path, reason: "line 1 is wrong" },
    { path, reason: "the file has 21 bytes, the limit is 20 bytes" },
  ]);
  unlinkSync(path);
  pass(1000);
  expect(read()).toBe("one");
  writeFileSync(path, "good again");
  pass(1000);
  expect(read()).toBe("good again");
});

it("names a file that cannot be used at first", () => {
  const { path, open } = start();
  expect(open).toThrow(`${path} cannot be used: ENOENT`);
  writeFileSync(path, "wrong");
  expect(open).toThrow(`${path} cannot be used: line 1 is wrong`);
});

it("takes two files that belong together only when both are there", () => {
  const { path } = start();
  const other = `${path}.key`;
  const write = (cert: string, key: string) => {
    if (cert !== "") writeFileSync(path, cert);
    if (key !== "") writeFileSync(other, key);
  };
  write("a", "a");
  let now = 0;
  const parse = (cert: string, key: string) => {
    if (cert !== key) throw new Error("they do not belong together");
    return cert;
  };
  const read = watchFiles({ paths: [path, other], maxBytes: 20, parse, log: {}, now: () => now });
  write("new", "");
  now += 1000;
  expect(read()).toBe("a");
  write("", "new");
  now += 1000;
  expect(read()).toBe("new");
});
