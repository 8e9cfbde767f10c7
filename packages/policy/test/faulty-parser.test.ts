import type { ShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { evaluateRequirement } from "../src/requirement.js";

const SCRIPT = "cd /x && rm -rf y # done";

const leaf = (type: string, start: number, end: number) => ({ type, start, end, children: [] });
const answer = (root: { type: string; start: number; end: number; children: object[] }, script?: string) => ({
  parse: (text: string) => ({ script: script ?? text, root, hasError: false }),
});

/** What parsers answer that have lost their memory, or their way. */
const FAULTY: Record<string, object> = {
  "an empty tree": answer(leaf("program", 0, 0)),
  "a tree without nodes": answer(leaf("comment", 0, SCRIPT.length)),
  "a program without statements": {
    parse: (script: string) => ({ script, root: leaf("program", 0, 0), hasError: true }),
  },
  "only the beginning": answer({ type: "program", start: 0, end: 5, children: [leaf("word", 0, 5)] }),
  "only the end": answer({ type: "program", start: 9, end: 17, children: [leaf("word", 9, 24)] }),
  "a hole": answer({ type: "program", start: 0, end: 24, children: [leaf("word", 0, 5), leaf("word", 18, 24)] }),
  "another script": answer({ type: "program", start: 0, end: 2, children: [leaf("word", 0, 2)] }, "ls"),
  "a node beyond the text": answer({ type: "program", start: 0, end: 99, children: [leaf("word", 0, 99)] }),
  "a comment": answer({ type: "program", start: 0, end: 24, children: [leaf("comment", 0, 24)] }),
  "a trap": {
    parse: () => {
      throw new RangeError("memory access out of bounds");
    },
  },
};

describe("a parser that answers nonsense", () => {
  it.each(Object.entries(FAULTY))("forbids: %s", async (_name, faulty) => {
    const command = await analyzeCommand(["bash", "-c", SCRIPT], undefined, async () => faulty as ShellParser); // made up
    expect(command).toMatchObject({ isSplit: false, literals: { complete: false } });
    const context = { sandboxPermissions: "use_default", unrestricted: false } as const;
    expect(evaluateRequirement(command, { ...context, approvalPolicy: "never" }).kind).toBe("forbidden");
    expect(evaluateRequirement(command, { ...context, approvalPolicy: "on-request" }).kind).toBe("needsApproval");
    const rules = {
      restricts: true,
      matchLonger: () => [],
      match: ([word]: readonly string[]) => (word === "rm" ? [{ decision: "forbidden" as const, rule: "r" }] : []),
    };
    expect(evaluateRequirement(command, { ...context, approvalPolicy: "on-request", rules }).kind).toBe("forbidden");
  });
});
