import { readFileSync, symlinkSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { RemoteMounts } from "@codex/native";
import { expect, it, onTestFinished } from "vitest";
import { createFileSystem } from "../src/file-system.js";
import { callFiles, useFiles } from "./support.js";

const files = useFiles();

/** Its `sub` does not answer until it is let. */
function open() {
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const asked: string[] = [];
  const mounts: RemoteMounts = {
    isAt: () => false,
    reach(paths) {
      const slow = [...paths].filter((path) => path.startsWith(files.path("sub")));
      asked.push(...slow);
      return slow.length > 0 ? answered : undefined;
    },
  };
  const connection = createFileSystem({ mounts }).createConnectionFileSystem({ onMissingChanged: () => {} });
  onTestFinished(() => connection.dispose());
  const over: string[] = [];
  const call = async (method: string, params: unknown) => {
    const result = await callFiles(connection, method, params);
    over.push(method);
    return result;
  };
  return { connection, answer, call, over, asked };
}

it("reads of a mount that does not answer wait without a thread, and other reads do not", async () => {
  const { answer, call, over } = open();
  const waiting = call("readFile", { path: files.url("sub/g.txt") });
  expect(await call("getMetadata", { path: files.url("f.txt") })).toMatchObject({ isFile: true });
  expect(over).toEqual(["getMetadata"]);
  answer();
  expect(await waiting).toEqual({ dataBase64: "Zw==" });
});

it.each([
  ["copy", { sourcePath: "sub/g.txt", destinationPath: "copied", recursive: false }],
  ["copy", { sourcePath: "f.txt", destinationPath: "sub/copied", recursive: false }],
  ["open", { handleId: "h", path: "sub/g.txt", mode: "read" }],
  ["watchMissing", { watchId: 1, missing: ["sub/none"] }],
  ["writeFile", { path: "sub/g.txt", dataBase64: "" }],
  ["remove", { path: "sub/g.txt", recursive: false, force: false }],
])("%s waits for it", async (method, params) => {
  const { answer, call, over, asked } = open();
  const text = JSON.stringify(params, (key, value) =>
    /path$/i.test(key) || /^\d$/.test(key) ? files.url(value) : value,
  );
  const waiting = call(method, JSON.parse(text));
  await expect.poll(() => asked).toHaveLength(1);
  expect(over).toEqual([]);
  expect(readFileSync(files.path("sub/g.txt"), "utf8")).toBe("g");
  answer();
  expect(await waiting).not.toHaveProperty("code");
});

const options = {
  maxDepth: 9,
  maxDirectories: 9,
  maxEntries: 99,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
};
it.each([
  ["walk", "a directory", { options }],
  ["walk", "a link", { options }],
  ["readDirectory", "a link", {}],
])("%s of the directory around it waits for it: %s", async (method, what, params) => {
  if (what === "a link") symlinkSync("deep", files.path("sub-link"));
  const { answer, call, over, asked } = open();
  const waiting = call(method, { path: pathToFileURL(files.root).href, ...params });
  await expect.poll(() => asked).toEqual([files.path(what === "a link" ? "sub-link" : "sub")]);
  expect(over).toEqual([]);
  answer();
  expect(await waiting).not.toHaveProperty("code");
});

it("a connection that goes waits for no mount", async () => {
  const { connection, call } = open();
  const waiting = call("writeFile", { path: files.url("sub/g.txt"), dataBase64: "" });
  await connection.dispose();
  expect(await waiting).toMatchObject({ message: "the connection is gone" });
  expect(readFileSync(files.path("sub/g.txt"), "utf8")).toBe("g");
});
