import { describe, expect, expectTypeOf, it } from "vitest";
import * as zod from "zod";
import * as z from "zod/mini";
import { defineTool, type ExecutorTool, ToolError } from "../../src/index.js";
import { useScriptedHosts } from "../support/scripted-host.js";

const serve = useScriptedHosts();

const call = async (tool: ExecutorTool, args: unknown) => {
  const { client } = serve({ tools: [tool] });
  const toolName = tool.spec.name;
  await client.send({ type: "call_tool", requestId: "req-1", toolName, arguments: args });
  return (await client.ofType("call_tool_response", "req-1")).outcome;
};

const text = (value: string) => ({ status: "success", content: [{ type: "input_text", text: value }] });

/** Answers with its arguments, as it got them. */
const usage = defineTool({
  name: "usage",
  description: "Bytes used by a directory.",
  inputSchema: z.object({
    path: z.string().check(z.minLength(1), z.startsWith("/")),
    depth: z._default(z.int().check(z.minimum(1), z.maximum(8)), 1),
    unit: z.optional(z.enum(["bytes", "blocks"])),
  }),
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ path: string; depth: number; unit?: "bytes" | "blocks" | undefined }>();
    return JSON.stringify(args);
  },
});

describe("a defined tool", () => {
  it("tells a model its schema as JSON Schema of what may be sent", () => {
    expect(usage.spec).toEqual({
      name: "usage",
      description: "Bytes used by a directory.",
      inputSchema: {
        type: "object",
        properties: {
          path: { type: "string", minLength: 1, format: "starts_with", pattern: "^\\/.*" },
          depth: { type: "integer", minimum: 1, maximum: 8, default: 1 },
          unit: { type: "string", enum: ["bytes", "blocks"] },
        },
        required: ["path"],
      },
    });
  });

  it("is called with validated arguments: defaults filled in, unknown members dropped", async () => {
    expect(await call(usage, { path: "/tmp", more: 1 })).toEqual(text('{"path":"/tmp","depth":1}'));
  });

  it.each([
    [{}, "missing field `path`"],
    [null, "missing field `path`"],
    [[], "expected an object, got an empty array"],
    [{ path: 7 }, "field `path`: expected a string, got 7"],
    [{ path: "tmp" }, 'field `path`: expected a string that starts with `/`, got "tmp"'],
    [{ path: "/", depth: 9 }, "field `depth`: expected at most 8, got 9"],
    [{ path: "/", depth: 1.5 }, "field `depth`: expected an integer, got 1.5"],
    [{ path: "/", depth: 0, unit: "rods" }, "field `depth`: expected at least 1, got 0 (and 1 more)"],
    [{ path: "/", unit: "rods" }, 'field `unit`: expected one of `bytes`, `blocks`, got "rods"'],
  ])("is not called with %j", async (args, problem) => {
    expect(await call(usage, args)).toEqual({ status: "error", message: `arguments of \`usage\`: ${problem}` });
  });

  it("takes a schema of zod as well, whose own messages are sentences", async () => {
    const even = defineTool({
      name: "even",
      description: "",
      inputSchema: zod.strictObject({
        count: zod
          .number()
          .describe("How many.")
          .refine(async (value) => value % 2 === 0, "must be even"),
        kind: zod
          .string()
          .regex(/^[a-z]+$/)
          .optional(),
      }),
      execute: ({ count }) => ({ text: `${count}`, structured: { count } }),
    });
    expect(even.spec.inputSchema).toMatchObject({
      properties: { count: { type: "number", description: "How many." } },
      additionalProperties: false,
    });
    expect(await call(even, { count: 2 })).toEqual({ ...text("2"), structured: { count: 2 } });
    const problem = async (args: unknown) => {
      const outcome = await call(even, args);
      return outcome.status === "error" ? outcome.message.replace("arguments of `even`: ", "") : outcome;
    };
    expect(await problem({ count: 3 })).toBe("field `count`: must be even, got 3");
    expect(await problem({ count: "3" })).toBe('field `count`: expected a number, got "3"');
    expect(await problem({ count: 2, kind: "A1" })).toBe(
      'field `kind`: expected a string that matches /^[a-z]+$/, got "A1"',
    );
    expect(await problem({ count: 2, other: 1 })).toMatch(/^expected no member `other`, got /);
  });

  it("answers what it throws for the model with that message and code", async () => {
    const broken = defineTool({
      name: "broken",
      description: "",
      inputSchema: z.object({}),
      execute: () => {
        throw new ToolError("the disk is gone", { code: "no_disk" });
      },
    });
    expect(await call(broken, {})).toEqual({ status: "error", message: "the disk is gone", code: "no_disk" });
  });

  it("takes what every object inherits for absent", async () => {
    const { optional, object, string, unknown, strictObject, array } = z;
    const tool = defineTool({
      name: "inherited",
      description: "",
      inputSchema: strictObject({
        toString: optional(string()),
        constructor: string(),
        valueOf: z._default(string(), "default"),
        list: optional(array(object({ hasOwnProperty: string() }))),
        rest: optional(unknown()),
      }),
      execute: (args) => JSON.stringify([args, Object.getPrototypeOf(args.rest ?? {}) === Object.prototype]),
    });
    const missing = (field: string) => ({
      status: "error",
      message: `arguments of \`inherited\`: missing field \`${field}\``,
    });
    expect(await call(tool, {})).toEqual(missing("constructor"));
    expect(await call(tool, { constructor: "c" })).toEqual(text('[{"constructor":"c","valueOf":"default"},true]'));
    expect(await call(tool, { constructor: "c", list: [{}] })).toEqual(missing("list[0].hasOwnProperty"));
    const rest = { a: [{ toString: 1 }] };
    expect(await call(tool, { constructor: "c", rest })).toEqual(
      text('[{"constructor":"c","valueOf":"default","rest":{"a":[{"toString":1}]}},true]'),
    );
  });

  it.each([undefined, null, 7, {}, { text: 7 }, { text: "x", structured: 7 }])(
    "that returns %j is a failure of the tool, not of the call",
    async (result) => {
      const tool = defineTool({
        name: "odd",
        description: "",
        inputSchema: z.object({}),
        execute: () => result as unknown as string, // as an author without types can write it
      });
      expect(await call(tool, {})).toMatchObject({
        status: "error",
        message: expect.stringMatching(/^tool `odd` failed: its result is not a string or \{ text, structured\? \}: /),
      });
    },
  );

  it.each([
    [{ at: z.date() }, "tool `when`: field `at`: Date cannot be represented in JSON Schema"],
    [
      { a: z.object({ list: z.array(z.object({ n: z.bigint() })) }) },
      "tool `when`: field `a.list[].n`: BigInt cannot be represented in JSON Schema",
    ],
    [
      { a: z.object({ ["__proto__"]: z.string() }) },
      "tool `when`: field `a.__proto__`: a member of this name cannot be distinguished from the prototype of an object",
    ],
  ])("names tool and field of a schema that it cannot have", (shape: z.core.$ZodShape, problem) => {
    const define = () => defineTool({ name: "when", description: "", inputSchema: z.object(shape), execute: () => "" });
    expect(define).toThrow(problem);
  });

  it.each([1, 50, 51, 20_000])("has at most 100 levels in its schema: %d objects in each other", (levels) => {
    let schema = z.object({});
    for (let level = 1; level < levels; level += 1) schema = z.object({ inner: schema });
    const define = () => defineTool({ name: "deep", description: "", inputSchema: schema, execute: () => "" });
    if (levels <= 50) expect(define).not.toThrow();
    else expect(define).toThrow("tool `deep`: its inputSchema is nested deeper than the limit of 100 levels");
  });
});
