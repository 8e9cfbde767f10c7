// The tools for files of `codex mcp-server`: on this host, and at an executor behind a websocket.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it, onTestFinished } from "vitest";
import { codex, useCommand } from "../support.js";

const command = useCommand();
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function connect(args: readonly string[]) {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "codex-files-"));
  const client = new Client({ name: "test", version: "1" });
  const all = [codex, "mcp-server", "--approval-policy", "never", "-s", "danger-full-access", ...args];
  await client.connect(new StdioClientTransport({ command: process.execPath, args: all }));
  onTestFinished(async () => {
    await client.close();
    rmSync(directory, { recursive: true });
  });
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name).filter((name) => /patch|image|_file|_dir/.test(name));
  return { client, directory, names };
}

it("a patch, a picture, lines and a listing at an executor behind a websocket", async () => {
  const { url } = await command.listen();
  const { client, directory, names } = await connect(["--executor", url]);
  expect(names).toEqual(["apply_patch", "view_image", "read_file", "list_dir"]);
  writeFileSync(join(directory, "a.png"), Buffer.from(PIXEL, "base64"));
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: args });
    return { content: content as { type: string; text?: string; data?: string; mimeType?: string }[], isError };
  };
  const input = `*** Begin Patch\n*** Add File: ${directory}/new.txt\n+one\n+two\n*** End Patch`;
  expect((await call("apply_patch", { input })).content[0]?.text).toContain("Success. Updated the following files:");
  expect(readFileSync(join(directory, "new.txt"), "utf8")).toBe("one\ntwo\n");
  const picture = await call("view_image", { path: `${directory}/a.png` });
  expect(picture.content[1]).toEqual({ type: "image", data: PIXEL, mimeType: "image/png" });
  expect((await call("read_file", { path: `${directory}/new.txt` })).content[0]?.text).toBe("L1: one\nL2: two");
  expect((await call("list_dir", { path: directory })).content[0]?.text).toBe(
    `Absolute path: ${directory}\na.png\nnew.txt`,
  );
  expect(await call("read_file", { path: `${directory}/none` })).toMatchObject({ isError: true });
});

it.each([
  [[], ["apply_patch", "view_image"]],
  [["--no-file-tools"], []],
])("of this host a model gets, with %j, %j: its host reads files itself", async (args, expected) => {
  const { names } = await connect(args);
  expect(names).toEqual(expected);
});
