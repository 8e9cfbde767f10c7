import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ExecServerClient } from "@codex/exec-server-client";
import { toFileUrl } from "@codex/exec-server-protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CODEX_BINARY, startCodexServer } from "../../../exec-server/test/backend/codex-server.js";
import { NO_BUBBLEWRAP } from "../../../sandbox/test/support.js";
import { makeTree, treeSandbox, useSandboxedFiles } from "./support.js";
import { FILE_CASES, type FileCase, UNTOUCHED } from "./table.js";

const nameOf = ({ method, names, more, outcome }: FileCase) => {
  const { path, sourcePath, destinationPath } = names;
  const { mode, recursive, force } = (more ?? {}) as Record<string, unknown>;
  const rest = [mode, recursive === false ? "one" : undefined, force === false ? "there" : undefined].filter(Boolean);
  return `${[method, ...rest].join(" ")} ${path ?? `${sourcePath} ${destinationPath}`}: ${outcome}`;
};
const table = FILE_CASES.map((one) => [nameOf(one), one] as const);

const paramsOf = (root: string, { names, more }: FileCase) => ({
  ...Object.fromEntries(Object.entries(names).map(([member, name]) => [member, `${toFileUrl(root)}/${name}`])),
  ...more,
});

function expectUntouched(root: string): void {
  for (const [name, text] of Object.entries(UNTOUCHED)) expect(readFileSync(join(root, name), "utf8"), name).toBe(text);
  expect(readdirSync(join(root, "o"))).toEqual(["f"]);
  expect(readdirSync(join(root, "w/.git/hooks"))).toEqual([]);
}

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`file calls in a sandbox (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const files = useSandboxedFiles();
  it.each(table)("%s", async (_name, one) => {
    const connection = files.connect();
    const answer = (await files.call(one.method, paramsOf(files.root, one))) as { code?: number };
    expect(answer.code ?? "ok").toBe(one.outcome);
    await connection.dispose();
    expectUntouched(files.root);
    for (const name of ["w/.codex", "w/.agents", "w/.aws"]) expect(existsSync(files.path(name)), name).toBe(false);
  });
});

const codexTable = CODEX_BINARY === "" || NO_BUBBLEWRAP !== undefined ? [] : table;
describe.skipIf(codexTable.length === 0)("the same calls to Codex 0.169.0 (needs CODEX_BINARY and bubblewrap)", () => {
  let server: { url: string; close(): Promise<void> };
  let client: ExecServerClient;
  beforeAll(async () => {
    server = await startCodexServer();
    client = await ExecServerClient.connectWebSocket(server.url);
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });
  it.each(table)("%s", async (_name, one) => {
    const root = makeTree();
    const params = { ...paramsOf(root, one), sandbox: treeSandbox(root) };
    try {
      const outcome = await client.call(`fs/${one.method}`, params).then(
        () => "ok",
        ({ code }: { code: number }) => code,
      );
      expect(outcome).toBe(one.codex?.outcome ?? one.outcome);
      if (one.method === "open" && outcome === "ok") await client.call("fs/close", { handleId: "h" });
      expectUntouched(root);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
