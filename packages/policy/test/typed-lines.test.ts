import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { MAX_KEY_MOVES, MAX_RECALL, MAX_TYPED_HISTORY, MAX_TYPED_LINE } from "../src/limits.js";
import { analyzeTypedLines, changesKeys, TypedLines } from "../src/typed-lines.js";

describe("lines that are typed", () => {
  it("keeps what is not complete, up to a bound", () => {
    expect({ MAX_TYPED_LINE, MAX_TYPED_HISTORY }).toEqual({ MAX_TYPED_LINE: 65_536, MAX_TYPED_HISTORY: 16_384 });
    const lines = new TypedLines(false);
    lines.add("x".repeat(MAX_TYPED_LINE + 10), false).keep();
    const { lines: complete, before, unclear, keep } = lines.add("\n", false);
    expect([complete.length, before, unclear]).toEqual([MAX_TYPED_LINE + 1, "", expect.stringMatching(/longer/)]);
    keep();
    const next = lines.add("y\n", false);
    expect([next.before.length, next.unclear]).toEqual([MAX_TYPED_HISTORY, undefined]);
  });

  it("forgets what was not written", () => {
    const lines = new TypedLines(false);
    lines.add("a", false).keep();
    lines.add("b\n", false);
    expect(lines.add("c\n", false).lines).toBe("ac\n");
  });

  it("reads keys as a terminal does, and as they stand", () => {
    expect(new TypedLines(true).read("lx\x7fs\r")).toEqual(["lxs\n", "ls\n"]);
    expect(new TypedLines(false).read("lx\x7fs\r\n")).toEqual(["lx\x7fs\r\n"]);
  });

  it.each([
    ["cursor left", "zp\x1b[Da\r"],
    ["home and end", "a\x1bOHz\x1b[4~p\r"],
    ["^A, ^F, ^E", "ap\x01z\x06\x05\r"],
    ["delete", "xzap\x01\x1b[3~\r"],
    ["^D in a line", "zaxp\x02\x02\x04\r"],
    ["^K", "zapfoo\x02\x02\x02\x0b\r"],
    ["^U and ^Y", "xzap\x15\x19\x01\x1b[3~\r"],
    ["^T", "zpa\x14\r"],
    ["words", "foo ap\x1bbz\x1bf\x1b\x7f\x19\x1bb\x1bb\x1bd\x01\x04\r"],
    ["a character of two units", "za😀\x7fp\r"],
    ["^V", "z\x16a\x16p\r"],
  ])("follows keys that edit a line: %s", (_, typed) => {
    expect(new TypedLines(true).read(typed)).toContain("zap\n");
  });

  it.each([
    ["the line before", "xzap\r", "\x1b[A\x01\x04\r"],
    ["the line before that", "xzap\rls\r", "\x10\x10\x10\x0e\x10\x01\x1b[3~\r"],
    ["a search", "xzap\rls\r", "\x12zq\bap\x01\x04\r"],
    ["a last word", "echo zap\r", "\x1b.\r"],
    ["a cut", "zap\x15ls\r", "\x19\r"],
    ["!$", "echo zap\n", "!$\n"],
    ["!!:1", "echo zap\n", "!!:1\n"],
    ["a changed word", "echo zapper\n", "!ec:1:s/per//\n"],
    ["a changed line", "echo xap\n", "^echo x^z\n"],
    ["!?text?", "echo zap\nls\n", "!?zap?:$\n"],
    ["!-2^", "echo zap\nls\n", "!-2^\n"],
    ["a part of a word", "echo za\n", "!$p\n"],
  ])("recalls earlier lines: %s", (_, before, typed) => {
    expect(new TypedLines(true).read(typed, before)).toContain("zap\n");
  });

  it("expands history of a shell without a terminal as well, and leaves other exclamation marks", () => {
    expect(new TypedLines(false).read("!$\n", "echo zap\n")).toEqual(["!$\n", "zap\n"]);
    expect(new TypedLines(false).read('[ ! -f a ] && echo "hi!"\n', "ls\n")).toEqual(['[ ! -f a ] && echo "hi!"\n']);
  });

  it("gives up on keys and events that do too much", () => {
    expect({ MAX_KEY_MOVES, MAX_RECALL }).toEqual({ MAX_KEY_MOVES: 1_048_576, MAX_RECALL: 1_048_576 });
    expect(new TypedLines(true).read(`${"ab".repeat(500)}${"\x01\x05".repeat(600)}\r`)).toBeUndefined();
    expect(new TypedLines(true).read(`ab\x15${"\x19\x19\x15".repeat(20)}\r`)).toBeUndefined();
    expect(new TypedLines(false).read("!!!!\n".repeat(40), "ls\n")).toBeUndefined();
    const long = "a".repeat(20_000);
    expect(new TypedLines(true).read(`${long}\r${"\x1b_\x15".repeat(60)}\r`)).toBeUndefined();
  });

  it("takes the report of a terminal for text, as readline does, and for nothing, as fish does", () => {
    expect(new TypedLines(true).read("\x1b]x\rzn\x7fap y\r\x07\r")?.join()).toContain("zap y\n");
    expect(new TypedLines(true).read("z\x1b]0;a\x07ap y\r")?.join()).toContain("zap y\n");
  });

  it("takes a sequence that does not end for a key, and what follows for text", () => {
    expect(new TypedLines(true).read("\x1b]0;a\x07zap x\r")).toContain("zap x\n");
    expect(new TypedLines(true).read(`${"\x1b]".repeat(20_000)}zap x\r`)).toContain("zap x\n");
  });

  // Each runs `rm -rf` in bash with readline's default keys.
  it.each([
    ["^X^E", "rm -rf x\x18\x05"],
    ["M-l", "RM\x1bb\x1bl -rf x\r"],
    ["M-u", "x\x1bb\x1bu\r"],
    ["M-c", "x\x1bb\x1bc\r"],
    ["M-\\", "r m\x1bb\x1b\\ -rf x\r"],
    ["M-digit", "\x1b2z\r"],
    ["^]", "rm\x1d-\r"],
    ["M-^Y", "\x1b\x19\r"],
    ["M-p", "\x1bp\r"],
    ["a macro", "\x18(rm\x18)\x18e\r"],
    ["M-#", "rm -rf x\x1b#"],
    ["^R", "\x12rm\r"],
    ["cursor up", "\x1b[A\r"],
    ["^Y", "\x19\r"],
    ["^O", "ls\x0f"],
    ["^_", "\x1f\r"],
    ["completion", "\t\r"],
    ["an unknown sequence", "\x1b[1;5Cx\r"],
  ])("is unclear with a key that is not followed: %s", (_, typed) => {
    expect(new TypedLines(true).add(typed, false).unclear).toMatch(/what the key .+ does is not followed/);
    expect(new TypedLines(false).add(typed, false).unclear).toBeUndefined();
    const lines = new TypedLines(true);
    lines.add("ls\r", false).keep();
    lines.add(typed[0] ?? "", false).keep();
    expect(lines.add(typed.slice(1), false).unclear ?? lines.add("\r", false).unclear).toBeDefined();
  });

  it("is unclear at once, before the line ends, and again when it ends", () => {
    const lines = new TypedLines(true);
    lines.add("rm -rf x", false).keep();
    const pressed = lines.add("\x18\x05", false);
    expect(pressed).toMatchObject({ lines: "rm -rf x\x18\x05", unclear: "what the key ^X does is not followed" });
    pressed.keep();
    expect(lines.add("y", false)).toMatchObject({ lines: "", unclear: undefined });
    expect(lines.add("\r", false).unclear).toBeDefined();
  });

  it("is clear with keys that only move, erase, end or discard", () => {
    const typed =
      "ab\x01\x06\x05\x02\x1bb\x1bf\x1b[D\x1b[C\x1b[H\x1b[F\x7f\x08\x17\x15\x0b\x14\x1bd\x1b\x7f\x0c\x1a\x03\r";
    expect(new TypedLines(true).add(`${typed}\x1b[200~ls\x1b[201~\r`, false).unclear).toBeUndefined();
  });

  it.each(["bind -x '\"a\": ls'", "set -o vi", "fc -s", "history -s ls", "bindkey -v", "stty erase a"])(
    "is unclear when it changes what keys do, and so is each line after it: %s",
    async (line) => {
      const command = await analyzeTypedLines([`${line}\n`], [""], undefined, createLazyShellParser());
      expect(command.literals).toMatchObject({ complete: false, unclear: expect.stringMatching(/may change/) });
      expect(changesKeys(command)).toBe(true);
      const lines = new TypedLines(true);
      lines.add(`${line}\r`, false).keep();
      lines.distrustKeys();
      expect(lines.add("ls\r", false).unclear).toMatch(/was changed/);
    },
  );
});
