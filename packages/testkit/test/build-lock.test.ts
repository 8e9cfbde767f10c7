import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const source = pathToFileURL(fileURLToPath(new URL("../../../scripts/build-lock.mjs", import.meta.url))).href;

function setUp() {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "build lock-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const start = (body: string) => {
    const program = `import { lockBuild } from ${JSON.stringify(source)};
import { appendFileSync } from "node:fs";
await lockBuild(${JSON.stringify(join(directory, "lock"))});
const log = (line) => appendFileSync(${JSON.stringify(join(directory, "log"))}, line + "\\n");
${body}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    return child;
  };
  return { directory, start, readLog: () => readFileSync(join(directory, "log"), "utf8") };
}

it("lets one build run at a time, and leaves nothing behind", async () => {
  const { directory, start, readLog } = setUp();
  const body = 'log("begin"); await new Promise((done) => setTimeout(done, 50)); log("end");';
  await Promise.all([1, 2, 3, 4].map(() => once(start(body), "close")));
  expect(readLog()).toBe("begin\nend\n".repeat(4));
  expect(readdirSync(directory)).toEqual(["log"]);
});

it("takes over from a build that was killed", async () => {
  const { directory, start } = setUp();
  const first = start('console.log("held"); setInterval(() => {}, 1000);');
  await once(first.stdout, "data");
  first.kill("SIGKILL");
  await once(first, "close");
  const second = start('console.log("held");');
  expect(await text(second.stdout)).toBe("held\n");
  expect(readdirSync(directory)).toEqual([]);
});
