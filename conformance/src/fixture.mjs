// What a case needs: a directory with files, a local HTTP server, and values for its placeholders.
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/** Milliseconds between the chunks of a chunked body. */
const CHUNK_PAUSE_MS = 150;

/** A new directory with mode 700; `remove` deletes it. */
export async function createFixture() {
  const path = await mkdtemp(join(await realpath(tmpdir()), "conformance-"));
  await mkdir(join(path, "sub", "deep"), { recursive: true });
  await mkdir(join(path, "empty"));
  await writeFile(join(path, "f.txt"), "hello");
  await writeFile(join(path, "sub", "g.txt"), "g");
  await writeFile(join(path, "sub", "deep", "h.txt"), "h");
  await symlink("f.txt", join(path, "link"));
  await symlink("missing", join(path, "dangling"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** @returns {Promise<{ base: string, close(): Promise<void> }>} */
export async function startWeb() {
  const server = createServer((request, response) => {
    if (request.url === "/hello") response.setHeader("x-multi", ["a", "b"]).end("hello");
    else if (request.url === "/chunks") void sendChunks(response);
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

async function sendChunks(response) {
  response.setHeader("content-type", "text/plain");
  response.write("one");
  await sleep(CHUNK_PAUSE_MS);
  response.write("two");
  await sleep(CHUNK_PAUSE_MS);
  response.end("end");
}

/**
 * Replaces placeholders in every text of a value.
 * @param {unknown} value
 * @param {{ fixture: string, httpBase: string, session?: string | undefined }} names
 * @returns {any}
 */
export function fill(value, names) {
  if (typeof value === "string") return fillText(value, names);
  if (Array.isArray(value)) return value.map((item) => fill(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member, names)]));
}

function fillText(text, { fixture, httpBase, session }) {
  const filled = text
    .replaceAll("file://$FIXTURE", pathToFileURL(fixture).href)
    .replaceAll("$FIXTURE", fixture)
    .replaceAll("$HTTP", httpBase);
  return session === undefined ? filled : filled.replaceAll("$SESSION", session);
}
