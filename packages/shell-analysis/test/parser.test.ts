import { describe, expect, it } from "vitest";
import { MAX_SCRIPT_NULS, MAX_SCRIPT_PIPES } from "../src/limits.js";
import { createLazyShellParser, loadShellParser } from "../src/parser.js";
import { splitScript } from "../src/split.js";

describe("createLazyShellParser", () => {
  it("loads once, when first asked", async () => {
    let loads = 0;
    const getParser = createLazyShellParser(() => {
      loads += 1;
      return loadShellParser();
    });
    expect(loads).toBe(0);
    const [first, second] = await Promise.all([getParser(), getParser()]);
    expect(second).toBe(first);
    expect(loads).toBe(1);
    expect(splitScript(first, "ls")).toEqual([["ls"]]);
  });

  it("tries again after a load that failed", async () => {
    let loads = 0;
    const getParser = createLazyShellParser(() => {
      loads += 1;
      return loads === 1 ? Promise.reject(new Error("no such file")) : loadShellParser();
    });
    await expect(getParser()).rejects.toThrow("no such file");
    expect(splitScript(await getParser(), "ls")).toEqual([["ls"]]);
  });

  it("says which file is missing", async () => {
    const files = { runtime: "/nowhere/runtime.wasm", grammar: "/nowhere/grammar.wasm" };
    await expect(loadShellParser({ files })).rejects.toThrow("/nowhere/grammar.wasm");
  });

  it("keeps parsers apart", async () => {
    const [one, other] = await Promise.all([loadShellParser(), loadShellParser()]);
    expect(splitScript(one, "a b")).toEqual([["a", "b"]]);
    expect(splitScript(other, "c d")).toEqual([["c", "d"]]);
  });

  it("is not broken by scripts of pipes, which abort the WebAssembly runtime", async () => {
    const { parse } = await loadShellParser();
    for (const pipe of ["a|", "a|&"]) {
      for (let time = 0; time < 4; time += 1) expect(parse(pipe.repeat(21_000))).toBeUndefined();
    }
    expect(parse("ls x")).toBeDefined();
    expect(parse(`${"a|".repeat(MAX_SCRIPT_PIPES - 1)}a`)).toBeDefined();
    expect(parse("a || b\n".repeat(MAX_SCRIPT_PIPES))).toBeDefined();
  });

  it("does not read many NUL characters", async () => {
    expect(MAX_SCRIPT_NULS).toBe(1000);
    expect((await loadShellParser()).parse(`${"\0".repeat(MAX_SCRIPT_NULS)}ls`)).toBeUndefined();
  });
});
