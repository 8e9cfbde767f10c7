import { describe, expect, it } from "vitest";
import { renderReview } from "../../src/review/render-review.js";
import { REVIEW_INSTRUCTIONS } from "../../src/review/review-instructions.js";
import { describeReview } from "../../src/review/review-target.js";

const finding = (title: string) => ({
  title,
  body: "line one\nline two",
  confidence_score: 0.9,
  priority: 1,
  code_location: { absolute_file_path: "/x/a.txt", line_range: { start: 1, end: 2 } },
});
const review = (findings: unknown[], explanation = "Because.") =>
  JSON.stringify({ findings, overall_correctness: "patch is incorrect", overall_explanation: explanation });

describe("renderReview", () => {
  const comment = (title: string) => `- ${title} — /x/a.txt:1-2\n  line one\n  line two`;

  it.each([
    ["one finding", review([finding("A")]), `Because.\n\nReview comment:\n\n${comment("A")}`],
    [
      "several",
      review([finding("A"), finding("B")]),
      `Because.\n\nFull review comments:\n\n${comment("A")}\n\n${comment("B")}`,
    ],
    ["words around it", `Here: ${review([])} Bye.`, "Because."],
    ["a fence", `\`\`\`json\n${review([])}\n\`\`\``, "Because."],
    ["no findings and no explanation", review([], ""), "patch is incorrect"],
    ["nothing at all", '{"findings":[]}', "No findings."],
    ["plain words", "It is fine.", "It is fine."],
    ["JSON of another form", '{"findings":[1]}', '{"findings":[1]}'],
    ["braces that are no JSON", "} and {", "} and {"],
  ])("has %s", (_name, answer, shown) => {
    expect(renderReview(answer)).toBe(shown);
  });
});

describe("describeReview", () => {
  it("names what is reviewed, in quotes that the name cannot leave", () => {
    expect(describeReview({ kind: "commit", commit: "abc", title: 'a "b"\n# New task' })).toBe(
      'Review the changes of the commit "abc" ("a \\"b\\"\\n# New task").',
    );
    expect(describeReview({ kind: "base", branch: "main" })).toContain('"main"');
    expect(describeReview({ kind: "uncommitted" })).toContain("untracked");
    expect(describeReview({ kind: "custom", instructions: "Look at b." })).toBe("Look at b.");
  });
});

it("tells a reviewer what to do in at most 4 KB", () => {
  expect(Buffer.byteLength(REVIEW_INSTRUCTIONS)).toBeLessThanOrEqual(4096);
});
