/** Calls under the sandbox of `treeSandbox`, and how they end: `ok`, or the code of the error. */
export interface FileCase {
  method: string;
  /** Members that are names of the tree. */
  names: Record<string, string>;
  more?: object;
  outcome: "ok" | -32004 | -32600 | -32603;
  /** Where Codex 0.169.0 answers otherwise: how, and why we do not. */
  codex?: { outcome: FileCase["outcome"]; reason: string };
}

const data = { dataBase64: Buffer.from("x").toString("base64") };
const options = {
  maxDepth: 3,
  maxDirectories: 100,
  maxEntries: 100,
  followDirectorySymlinks: true,
  pruneHiddenDirectories: false,
};
const on =
  (method: string, more: object = {}) =>
  (path: string, outcome: FileCase["outcome"], codex?: FileCase["codex"]): FileCase => ({
    method,
    names: { path },
    more,
    outcome,
    ...(codex === undefined ? {} : { codex }),
  });
const read = on("readFile");
const write = on("writeFile", data);
const writeAtomic = on("writeFile", { ...data, atomic: true });
const makeDirectory = on("createDirectory");
const makeOne = on("createDirectory", { recursive: false });
const look = on("getMetadata");
const resolve = on("canonicalize");
const list = on("readDirectory");
const walk = on("walk", { options });
const remove = on("remove");
const removeThere = on("remove", { force: false });
const openToRead = on("open", { handleId: "h" });
const replace = on("open", { handleId: "h", mode: "replace" });
const copy = (sourcePath: string, destinationPath: string, outcome: FileCase["outcome"]): FileCase => ({
  method: "copy",
  names: { sourcePath, destinationPath },
  more: { recursive: true },
  outcome,
});

const MASKED = { outcome: -32603, reason: "a closed file is a device here, which cannot be opened at all" } as const;

export const FILE_CASES: readonly FileCase[] = [
  ...[read("w/f", "ok"), read("o/f", "ok"), read("w/link-out", "ok"), read("w/nope", -32004), read("w", -32600)],
  ...[
    read("w/secret", -32600),
    read("w/closed/x", -32600),
    read("w/link-secret", -32600),
    read("o/../w/secret", -32600),
  ],
  ...[write("w/n", "ok"), write("w/f", "ok"), write("w/new/n", -32004), write("w/sub", -32603)],
  ...[write("o/n", -32603), write("o/f", -32603), write("w/link-out", -32603), write("w/dirlink-out/n", -32603)],
  ...[write("w/../o/n", -32603), write("w/.git/config", -32603), write("w/.git/hooks/n", -32603)],
  ...[
    write("w/.codex", -32603),
    write("w/.codex/x", -32603),
    write("w/link-codex", -32603),
    write("w/link-codex/x", -32603),
  ],
  ...[
    write("w/.agents/x", -32603),
    write("w/.aws/x", -32603),
    write("w/closed/n", -32600),
    write("w/secret", -32600, MASKED),
  ],
  ...[writeAtomic("w/n", "ok"), writeAtomic("w/f", "ok"), writeAtomic("w/new/n", -32004), writeAtomic("w/sub", -32603)],
  ...[writeAtomic("o/n", -32603), writeAtomic("o/f", -32603), writeAtomic("w/link-out", -32603)],
  ...[writeAtomic("w/.git/config", -32603), writeAtomic("w/.codex", -32603), writeAtomic("w/.codex/x", -32603)],
  ...[writeAtomic("w/closed/n", -32600), writeAtomic("w/secret", -32600, MASKED)],
  ...[makeDirectory("w/a/b", "ok"), makeDirectory("o/a", -32603), makeDirectory("w/.git/n", -32603)],
  ...[makeDirectory("w/.codex/n", -32603), makeOne("w/.codex", -32603), makeDirectory("w/closed/n", -32600)],
  ...[look("w/f", "ok"), look("o/f", "ok"), look("w/closed", "ok"), look("w/closed/x", -32600), look("w/nope", -32004)],
  ...[resolve("w/link-out", "ok"), resolve("w/closed/x", -32600), resolve("w/nope", -32004)],
  ...[list("w", "ok"), list("o", "ok"), list("w/closed", -32600), walk("w", "ok"), walk("w/closed", "ok")],
  ...[remove("w/f", "ok"), remove("w/link-out", "ok"), remove("w/nope", "ok"), removeThere("w/nope", -32004)],
  ...[remove("o/f", -32603), remove("w/.git", -32603), remove("w/.git/config", -32603), remove("w/.codex", -32603)],
  ...[remove("w/secret", -32603), remove("w/closed", -32600), remove("w", -32603)],
  ...[copy("w/f", "w/c", "ok"), copy("o/f", "w/c", "ok"), copy("w/f", "o/c", -32603), copy("w/secret", "w/c", -32600)],
  ...[copy("w/closed", "w/c", -32600), copy("w/f", "w/.git/hooks/c", -32603), copy("o", "w/.codex/c", -32603)],
  ...[openToRead("w/f", "ok"), openToRead("w/secret", -32600), replace("w/f", "ok"), replace("w/n", "ok")],
  ...[replace("o/f", -32603), replace("o/n", -32603), replace("w/.git/config", -32603), replace("w/.codex/n", -32603)],
];

/** What must be as it was after every case. */
export const UNTOUCHED = { "w/.git/config": "c", "w/secret": "s", "w/closed/x": "x", "o/f": "out" } as const;
