// File calls over a websocket, in a directory that is made for it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inBlocks } from "./report.mjs";
import { anonymousMegabytes } from "./server.mjs";

const ENTRIES = 10_000;
const LARGE_BYTES = 64 * 1024 * 1024;

export async function measureFiles({ servers, report, rounds }) {
  const directory = mkdtempSync(join(tmpdir(), "codex-bench-"));
  try {
    const paths = prepare(directory);
    const on = (method, path) => {
      const ask = (server) => server.request(method, { path }).then(() => {});
      return { ours: () => ask(servers.ours), other: () => ask(servers.other) };
    };
    const time = async (what, method, path, count, goal) =>
      report.add(`ws: ${what}`, "ms", await inBlocks(on(method, path), rounds(count)), goal);
    for (const [what, method] of Object.entries({ "readFile of 1 KB": "fs/readFile", getMetadata: "fs/getMetadata" })) {
      const calls = on(method, paths.small);
      const first = await inBlocks(calls, rounds(100), { blocks: 1, warmUp: 0 });
      report.add(`ws: ${what}, the first 100`, "ms", first);
      await inBlocks(calls, rounds(2000), { blocks: 1, warmUp: 0 });
      await time(what, method, paths.small, 400, "≤ 1");
    }
    await time(`readDirectory of ${ENTRIES}`, "fs/readDirectory", paths.many, 40, "≤ 0.8");
    const growth = {
      ours: await growthWhile(servers.ours, paths.large),
      other: await growthWhile(servers.other, paths.large),
    };
    await time("readFile of 64 MB", "fs/readFile", paths.large, 8, "≤ 0.8");
    report.add("ws: memory growth while 64 MB are read", "MB", growth, "≤ 0.8");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function prepare(directory) {
  const at = (name) => join(directory, name);
  const url = (name) => pathToFileURL(at(name)).href;
  writeFileSync(at("small"), Buffer.alloc(1024, "a"));
  writeFileSync(at("large"), Buffer.alloc(LARGE_BYTES, "a"));
  mkdirSync(at("many"));
  for (let i = 0; i < ENTRIES; i += 1) writeFileSync(at(`many/file-${i}`), "");
  return { small: url("small"), large: url("large"), many: url("many") };
}

async function growthWhile(server, path) {
  const before = anonymousMegabytes(server.pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, anonymousMegabytes(server.pid));
  }, 2);
  await server.request("fs/readFile", { path });
  clearInterval(timer);
  return most - before;
}
