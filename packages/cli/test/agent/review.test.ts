import { readFileSync } from "node:fs";
import { join } from "node:path";
import { say } from "@codex/agent/testing";
import { describe, expect, it } from "vitest";
import { finish, useCommand } from "../support.js";
import { itemsOf, setUpAgent } from "./support.js";

const command = useCommand();

const answer = JSON.stringify({
  findings: [
    {
      title: "[P1] Keep the last line",
      body: "It is lost.",
      code_location: { absolute_file_path: "/x/a.txt", line_range: { start: 3, end: 3 } },
    },
  ],
  overall_correctness: "patch is incorrect",
  overall_explanation: "A line is lost.",
});
const shown = "A line is lost.\n\nReview comment:\n\n- [P1] Keep the last line — /x/a.txt:3-3\n  It is lost.";

describe("codex exec review", () => {
  it.each<[string, string[], RegExp]>([
    ["what is not committed", ["--uncommitted"], /not committed/],
    ["what a branch lacks", ["--base", "main"], /"main"/],
    ["a commit", ["--commit", "abc", "--title", "A title"], /"abc" \("A title"\)/],
    ["what the user says", ["Look at a.txt."], /^Look at a\.txt\.$/],
  ])("reviews %s", async (_name, args, task) => {
    const { endpoint, repository, run } = await setUpAgent(command, [say(answer)]);
    const file = join(repository, "last.txt");
    const { code, stdout } = await run(["review", "--json", "-o", file, ...args]);
    expect(code).toBe(0);
    expect(itemsOf(stdout)).toMatchObject([{ type: "agent_message", text: shown }]);
    expect(readFileSync(file, "utf8")).toBe(shown);
    const [first, ...rest] = endpoint.requests[0]?.body.input ?? [];
    expect(JSON.stringify(first)).toContain("You review a change");
    expect(rest.at(-1)).toMatchObject({ role: "user", content: [{ text: expect.stringMatching(task) }] });
  });

  it.each([
    ["nothing to review", []],
    ["two things", ["--uncommitted", "--base", "main"]],
    ["a prompt beside a target", ["--uncommitted", "words"]],
    ["a title alone", ["--title", "t", "words"]],
  ])("refuses %s", async (_name, args) => {
    const { endpoint, run } = await setUpAgent(command, [say("never")]);
    expect((await run(["review", ...args])).code).toBe(2);
    expect(endpoint.requests).toHaveLength(0);
  });

  it("is codex review as well, and takes its words from stdin", async () => {
    const { endpoint, repository, env } = await setUpAgent(command, [say(answer)]);
    const child = command.startIn(repository, ["review", "-"], env);
    child.stdin.end("Look at b.txt.");
    const { code, stdout } = await finish(child);
    expect([code, stdout.toString()]).toEqual([0, `${shown}\n`]);
    expect(endpoint.requests[0]?.text).toContain("Look at b.txt.");
  });
});
