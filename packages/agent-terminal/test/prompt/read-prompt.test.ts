import { PassThrough, Readable } from "node:stream";
import { PromptError, readPrompt } from "@codex/agent-terminal";
import { systemClock } from "@codex/clock";
import { describe, expect, it } from "vitest";

const input = (text: string | Uint8Array) => Readable.from([Buffer.from(text)]);
const terminal = Object.assign(new PassThrough(), { isTTY: true });
const silent = () => {};

describe("readPrompt", () => {
  it.each([
    ["the argument", "do it", undefined, "do it"],
    ["the argument, without waiting for a terminal", "do it", terminal, "do it"],
    ["the argument beside an empty stdin", "do it", input(""), "do it"],
    ["stdin behind the argument", "do it", input("a\nb\n"), "do it\n\n<stdin>\na\nb\n</stdin>"],
    ["stdin alone", undefined, input("do it\n"), "do it\n"],
    ["stdin in UTF-16 with its mark", undefined, input(Buffer.from("\ufeffdo it", "utf16le")), "do it"],
    ["stdin with a mark of UTF-8", undefined, input("\ufeffdo it"), "do it"],
    ["stdin for -", "-", input("do it"), "do it"],
  ])("is %s", async (_name, argument, stdin, expected) => {
    expect(await readPrompt({ argument, stdin, say: silent })).toBe(expected);
  });

  it.each([
    ["neither argument nor stdin", undefined, undefined, /no prompt/],
    ["only a terminal", undefined, terminal, /no prompt/],
    ["an empty stdin", undefined, input(" \n"), /stdin was empty/],
    ["a blank argument", "  ", undefined, /empty/],
    ["stdin that is not UTF-8", undefined, input(Uint8Array.of(0xff, 0xfe, 0x41)), /neither UTF-8 nor/],
  ])("is refused for %s", async (_name, argument, stdin, expected) => {
    const failure = await readPrompt({ argument, stdin, say: silent }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PromptError);
    expect(String(failure)).toMatch(expected);
  });

  it("says what it waits for, once, and goes on waiting", async () => {
    const stdin = new PassThrough();
    const notices: string[] = [];
    const say = (notice: string) => {
      notices.push(notice);
      stdin.end("more");
    };
    const clock = { ...systemClock, after: (_ms: number, run: () => void) => systemClock.after(0, run) };
    expect(await readPrompt({ argument: "do it", stdin, say, clock })).toContain("more");
    expect(notices).toEqual([expect.stringContaining("--no-stdin")]);
  });
});
