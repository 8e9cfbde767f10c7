import { describe, expect, it } from "vitest";
import { findKnownSafeEntry, KNOWN_SAFE_COMMANDS } from "../src/known-safe.js";

const isSafe = (command: string, os = "linux") => findKnownSafeEntry(command.split(" "), os) !== undefined;

describe("known-safe commands", () => {
  it("is this table", () => {
    const names = KNOWN_SAFE_COMMANDS.map((entry) => entry.program).sort();
    expect(names.join(" ")).toBe(
      "base64 cat cd cut echo expr false find grep head id ls nl numfmt paste pwd rev rg sed seq stat tac tail tr true " +
        "uname uniq wc which whoami",
    );
  });

  it.each([
    "ls -la /etc",
    "/usr/bin/cat file",
    "base64 -d file",
    "base64 --decode file",
    "find . -name x -type f",
    "rg -n --hidden pattern src",
    "sed -n 5p file",
    "sed -n 1,200p src/main.ts",
    "sed -n 3p",
    "uniq -c in",
  ])("%s", (command) => expect(isSafe(command)).toBe(true));

  it.each([
    "make",
    "./ls",
    "/tmp/cat file",
    "base64 -o out in",
    "base64 -dout in",
    "base64 --output=out in",
    "base64 --out out",
    "find . -exec rm {} +",
    "find . -execdir x",
    "find . -ok x",
    "find . -okdir x",
    "find . -delete",
    "find . -fls out",
    "find . -fprint out",
    "find . -fprint0 out",
    "find . -fprintf out %p",
    "rg --pre cat x",
    "rg --pre=cat x",
    "rg --hostname-bin=x y",
    "rg --search-zip x",
    "rg -z x",
    "rg -nz x",
    "sed 5p file",
    "sed -i s/a/b/ file",
    "sed -n s/a/b/w file",
    "sed -n 5p -i",
    "sed -n 5p -ew/tmp/x",
    "sed -n 5p a b",
    "sed -n 5d file",
    "uniq in out",
    "uniq - out",
    "uniq -- in -out",
    "uniq -c -- - -",
  ])("not %s", (command) => expect(isSafe(command)).toBe(false));

  it("knows numfmt and tac on Linux alone", () => {
    expect(isSafe("tac file", "linux")).toBe(true);
    expect(isSafe("tac file", "darwin")).toBe(false);
    expect(findKnownSafeEntry(["numfmt", "1"], undefined)).toBeUndefined();
  });
});
