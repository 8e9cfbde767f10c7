import { fileURLToPath } from "node:url";
import { FakeClock } from "@codex/clock/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type AskPerson,
  type ConnectOptions,
  connectMcpServers,
  type McpServers,
  parseMcpServers,
} from "../../src/index.js";
import { call, openRemote, SERVER } from "../support.js";

const PROGRAM = fileURLToPath(new URL("../programs/library.mjs", import.meta.url));
const LIBRARY = { command: process.execPath, args: [PROGRAM] };
const PLAIN = { command: SERVER.command, args: SERVER.args };

async function connect(table: unknown, options: Partial<ConnectOptions> = {}): Promise<McpServers> {
  const place = (await openRemote()).environment;
  const servers = await connectMcpServers(parseMcpServers(table), { getEnvironment: () => place, ...options });
  onTestFinished(() => servers.close());
  return servers;
}

interface Result {
  value: Record<string, unknown>;
  images: unknown[];
}

async function use(servers: McpServers, name: string, args: object): Promise<Result> {
  const { outcome } = await call(servers.libraryTools, name, args);
  if (outcome.status === "error") throw new Error(outcome.message);
  const [part] = outcome.content as { text: string }[];
  const { content = [] } = (outcome.structured ?? {}) as { content?: { type: string }[] };
  return {
    // A line for each picture follows.
    value: JSON.parse(part?.text.split("\n", 1)[0] ?? "") as Record<string, unknown>,
    images: content.filter(({ type }) => type === "image"),
  };
}
const namesOf = ({ libraryTools }: McpServers) => libraryTools.map(({ spec }) => spec.name);

describe("resources and prompts of servers", () => {
  it("are offered to a model by tools that exist only if a server has any", async () => {
    expect(namesOf(await connect({ plain: PLAIN }))).toEqual([]);
    expect(namesOf(await connect({ plain: PLAIN, library: LIBRARY }))).toEqual([
      "list_mcp_resources",
      "list_mcp_resource_templates",
      "read_mcp_resource",
      "list_mcp_prompts",
      "get_mcp_prompt",
    ]);
  });

  it("are listed with their server, and read as the server has them", async () => {
    const servers = await connect({ one: LIBRARY, two: LIBRARY, plain: PLAIN });
    const all = await use(servers, "list_mcp_resources", {});
    expect((all.value.resources as object[]).length).toBe(6);
    expect(all.value.resources).toContainEqual(expect.objectContaining({ server: "two", uri: "notes://today" }));
    const one = await use(servers, "list_mcp_resources", { server: "one" });
    expect(one.value).toMatchObject({ server: "one" });
    expect((one.value.resources as object[]).length).toBe(3);
    expect((await use(servers, "list_mcp_resource_templates", {})).value.resourceTemplates).toContainEqual(
      expect.objectContaining({ server: "one", uriTemplate: "notes://{day}/list" }),
    );
    expect((await use(servers, "read_mcp_resource", { server: "one", uri: "notes://monday/list" })).value).toEqual({
      server: "one",
      uri: "notes://monday/list",
      contents: [{ uri: "notes://monday/list", text: "notes of monday" }],
    });
    expect((await use(servers, "list_mcp_prompts", {})).value.prompts).toContainEqual(
      expect.objectContaining({ server: "two", name: "greet" }),
    );
    const greeting = await use(servers, "get_mcp_prompt", { server: "one", name: "greet", arguments: { name: "Ada" } });
    expect(greeting.value.messages).toContainEqual({
      role: "user",
      content: { type: "text", text: "Say hello to Ada." },
    });
    expect(greeting.images).toEqual([expect.objectContaining({ mimeType: "image/png" })]);
  });

  it("that are pictures are shown as such, not as base64", async () => {
    const servers = await connect({ library: LIBRARY });
    const { value, images } = await use(servers, "read_mcp_resource", { server: "library", uri: "picture://dot" });
    expect(value.contents).toEqual([{ uri: "picture://dot", mimeType: "image/png", bytes: 70 }]);
    expect(images).toEqual([expect.objectContaining({ type: "image", mimeType: "image/png" })]);
  });

  it.each([
    ["read_mcp_resource", { server: "library", uri: "notes://broken" }, "the disk is on fire"],
    ["read_mcp_resource", { server: "nope", uri: "a:b" }, "those that have: `library`"],
    ["read_mcp_resource", { server: "library" }, "`uri`"],
    ["list_mcp_resources", { cursor: "x" }, "`cursor` needs the `server`"],
    ["list_mcp_resources", { server: 1 }, "`server`: expected a string"],
    ["get_mcp_prompt", { server: "library", name: "none" }, "none"],
  ])("%s with %j fails with the reason", async (name, args, reason) => {
    const { outcome } = await call((await connect({ library: LIBRARY })).libraryTools, name, args);
    expect(outcome).toEqual({ status: "error", message: expect.stringContaining(reason) });
  });

  it("are asked about where all calls of a server are", async () => {
    const asks = (servers: McpServers) => servers.libraryTools.map(({ spec }) => spec.asksApproval === true);
    expect(asks(await connect({ a: LIBRARY }))).not.toContain(true);
    expect(asks(await connect({ a: LIBRARY, b: { ...LIBRARY, default_tools_approval_mode: "prompt" } }))).not.toContain(
      false,
    );
  });
});

describe("a question of a server", () => {
  const order = async (servers: McpServers, tool = "order") =>
    (await call(servers.tools, `mcp__library__${tool}`, {})).outcome;
  const content = (answer: object) => ({
    status: "success",
    content: [{ type: "input_text", text: JSON.stringify(answer) }],
  });

  it("reaches the person with its fields, and its answer the server", async () => {
    const asked: unknown[] = [];
    const askPerson: AskPerson = async (question) => {
      asked.push(question);
      return { action: "accept", content: { drink: "tea", name: "Ada", cups: 3, extras: ["cake"] } };
    };
    const servers = await connect({ library: LIBRARY }, { askPerson });
    const answer = { action: "accept", content: { drink: "tea", name: "Ada", cups: 3, extras: ["cake"] } };
    expect(await order(servers)).toEqual(content(answer));
    expect(asked).toEqual([
      {
        server: "library",
        message: "What shall it be?",
        fields: [
          expect.objectContaining({ name: "drink", kind: "choice", isRequired: true }),
          expect.objectContaining({ name: "cups", title: "Cups", kind: "integer", default: 2 }),
          expect.objectContaining({ name: "milk", kind: "boolean", isRequired: false }),
          expect.objectContaining({ name: "name", kind: "text", description: "written on the cup" }),
          expect.objectContaining({ name: "extras", kind: "choices", options: expect.any(Array) }),
        ],
      },
    ]);
  });

  it("may be a page to open", async () => {
    const asked: unknown[] = [];
    const askPerson: AskPerson = async ({ url, fields }) => {
      asked.push({ url, fields });
      return { action: "accept" };
    };
    expect(await order(await connect({ library: LIBRARY }, { askPerson }), "sign")).toEqual(
      content({ action: "accept" }),
    );
    expect(asked).toEqual([{ url: "https://example.com/form", fields: [] }]);
  });

  it("is canceled if nobody can be asked any more, and not asked where nobody can be", async () => {
    const askPerson: AskPerson = () => Promise.reject(new Error("the terminal is gone"));
    expect(await order(await connect({ library: LIBRARY }, { askPerson }))).toEqual(content({ action: "cancel" }));
    expect(await order(await connect({ library: LIBRARY }))).toMatchObject({
      status: "error",
      message: expect.stringContaining("elicitation"),
    });
  });

  it("takes nothing from the time limit of its call", async () => {
    const clock = new FakeClock();
    const askPerson: AskPerson = async () => {
      clock.advance(60_000);
      return { action: "decline" };
    };
    const servers = await connect({ library: { ...LIBRARY, tool_timeout_sec: 1 } }, { askPerson, clock });
    expect(await order(servers)).toEqual(content({ action: "decline" }));
  });
});
