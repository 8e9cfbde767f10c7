import * as z from "zod/mini";

const lineNumber = z.int().check(z.nonnegative());
const findingSchema = z.object({
  title: z.string(),
  body: z.string(),
  code_location: z.object({
    absolute_file_path: z.string(),
    line_range: z.object({ start: lineNumber, end: lineNumber }),
  }),
});
const reviewSchema = z.object({
  findings: z.array(findingSchema),
  overall_correctness: z.optional(z.string()),
  overall_explanation: z.optional(z.string()),
});

/** Renders a review as text: verdict, and findings with locations. Other text is returned unchanged. Pure. */
export function renderReview(answer: string): string {
  const review = parseReview(answer);
  if (review === undefined) return answer;
  const { findings, overall_correctness: verdict = "", overall_explanation: explanation = "" } = review;
  const summary = explanation.trim() === "" ? verdict.trim() : explanation.trim();
  if (findings.length === 0) return summary === "" ? "No findings." : summary;
  const heading = findings.length === 1 ? "Review comment:" : "Full review comments:";
  return [...(summary === "" ? [] : [summary]), heading, ...findings.map(renderFinding)].join("\n\n");
}

function renderFinding({ title, body, code_location: place }: z.infer<typeof findingSchema>): string {
  const { start, end } = place.line_range;
  const lines = body.split("\n").map((line) => `  ${line}`.trimEnd());
  return [`- ${title} — ${place.absolute_file_path}:${start}-${end}`, ...lines].join("\n");
}

/** Parses JSON, or the text from the first brace to the last, since models may add prose. */
function parseReview(answer: string): z.infer<typeof reviewSchema> | undefined {
  for (const text of [answer, answer.slice(answer.indexOf("{"), answer.lastIndexOf("}") + 1)]) {
    try {
      const parsed = reviewSchema.safeParse(JSON.parse(text));
      if (parsed.success) return parsed.data;
    } catch {
      // Try the next candidate.
    }
  }
  return undefined;
}
