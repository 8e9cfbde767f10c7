import { describe, expect, it } from "vitest";
import { ComputedPrograms } from "../src/computed-programs.js";
import { MAX_GUESS_WORDS, MAX_NAME_GUESSES } from "../src/limits.js";

describe("programs that only the running script knows", () => {
  it("may have every name that is spelled out, with and without its dots and dashes", () => {
    const computed = new ComputedPrograms();
    computed.add(["x"]);
    const names = computed.list(["$(basename /opt/apt-get.sh) --flag x"]).map(([name]) => name);
    for (const name of ["basename", "opt", "apt-get.sh", "apt", "get", "sh", "flag", "x"])
      expect(names).toContain(name);
  });

  it("keeps to its bounds, and says when there is more", () => {
    const computed = new ComputedPrograms();
    expect(computed.list(["a b c"])).toEqual([]);
    computed.add(Array.from({ length: MAX_GUESS_WORDS + 1 }, () => "x"));
    expect(computed.list(["a"])).toEqual([["a", ...Array.from({ length: MAX_GUESS_WORDS }, () => "x")]]);
    expect(computed.isOver).toBe(false);
    const names = Array.from({ length: MAX_NAME_GUESSES + 1 }, (_, at) => `n${at}`);
    expect(computed.list([names.join(" ")])).toEqual([]);
    expect(computed.isOver).toBe(true);
  });
});
