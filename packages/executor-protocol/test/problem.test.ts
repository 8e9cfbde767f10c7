import {
  formatArgumentProblem,
  formatProblem,
  PARSE_CONTEXT,
  parseOrchestratorMessage,
} from "@codex/executor-protocol";
import { afterEach, expect, test } from "vitest";
import * as z from "zod/mini";

afterEach(() => {
  z.config({ localeError: undefined });
});

test("problems are the same in a program that has set a locale of zod", () => {
  const parse = () => parseOrchestratorMessage({ type: "call_tool", requestId: "r", toolName: 7, arguments: {} });
  const before = parse();
  expect(before).toMatchObject({ kind: "invalid", problem: "field `toolName`: expected a string, got 7" });
  z.config(z.locales.de());
  expect(parse()).toEqual(before);
});

test.each([
  [z.string().check(z.regex(/^a+$/)), "b", "expected a string that matches /^a+$/, got a string"],
  [z.string().check(z.endsWith("/")), "b", "expected a string that ends with `/`, got a string"],
  [z.string().check(z.includes("@")), "b", "expected a string with `@` in it, got a string"],
  [z.email(), "b", "expected a string of format `email`, got a string"],
  [z.number().check(z.multipleOf(5)), 7, "expected a multiple of 5, got 7"],
])("the rule is named: %#", (schema, value, problem) => {
  const { error } = z.safeParse<z.ZodMiniType>(schema, value, PARSE_CONTEXT);
  expect(error && formatProblem(error, value)).toBe(problem);
});

test("arguments are shown where they are short and no secret", () => {
  const schema = z.object({ env: z.record(z.string(), z.int()), path: z.optional(z.int()) });
  const problemOf = (value: unknown) => {
    const { error } = z.safeParse(schema, value, PARSE_CONTEXT);
    return error && formatArgumentProblem(error, value);
  };
  expect(problemOf({ env: { TOKEN: "s3cret" } })).toBe("field `env.TOKEN`: expected a number, got a string");
  expect(problemOf({ env: {}, path: "here" })).toBe('field `path`: expected a number, got "here"');
  expect(problemOf({ env: {}, path: "x".repeat(500) })?.length).toBeLessThan(150);
});
