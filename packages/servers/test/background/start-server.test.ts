import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { expect, it } from "vitest";
import { startServer } from "../../src/background/start-server.js";
import { placeIn, useDirectories } from "./support.js";

const makeDirectory = useDirectories();
const isLinux = process.platform === "linux";

const run = (script: string) => ({ argv: [process.execPath, "-e", script] as const, cwd: "/", env: process.env });

it("waits until the server is ready; its output goes to a log of mode 600", async () => {
  const place = placeIn(makeDirectory());
  const script = 'console.log(process.cwd(), process.stdin.isTTY); require("fs").writeSync(3, "ready\\n")';
  await startServer(place, run(script));
  expect(readFileSync(place.log, "utf8")).toBe("/ undefined\n");
  expect(statSync(place.log).mode & 0o777).toBe(0o600);
});

it.runIf(isLinux)("starts it in its own session", async () => {
  const place = placeIn(makeDirectory());
  const script =
    'const s = require("fs").readFileSync("/proc/self/stat", "latin1").split(") ")[1].split(" ");' +
    'console.log(Number(s[3]) === process.pid, s[4]); require("fs").writeSync(3, "ready\\n")';
  await startServer(place, run(script));
  expect(readFileSync(place.log, "utf8")).toBe("true 0\n");
});

it.each([
  [
    "what it reports",
    'require("fs").writeSync(3, "no room"); require("fs").closeSync(3); setInterval(() => {}, 1000)',
    "no room",
  ],
  ["the end of its output", 'console.error("x".repeat(9000) + " it broke"); process.exit(1)', "it broke"],
  ["that it has ended", "process.exit(0)", "it ended at once"],
])("a failure names %s", async (_name, script, reason) => {
  await expect(startServer(placeIn(makeDirectory()), run(script))).rejects.toThrow(reason);
});

it("a failure names a program that is missing", async () => {
  const program = { argv: ["/nonexistent/node"] as const, cwd: "/", env: {} };
  await expect(startServer(placeIn(makeDirectory()), program)).rejects.toThrow("ENOENT");
});

it.runIf(isLinux)("inherited descriptors are closed, and Node's own stay open", () => {
  const source = new URL("../../dist/background/inherited.js", import.meta.url).href;
  const script =
    `const fs = await import("node:fs"); const { closeInherited } = await import(${JSON.stringify(source)});` +
    'closeInherited(); try { fs.fstatSync(200); console.log("open"); } catch { console.log("closed"); }' +
    'await new Promise((done) => setTimeout(done, 1)); fs.promises.readFile("/dev/null").then(() => console.log("works"));';
  const words = [process.execPath, "--input-type=module", "-e", script];
  const { stdout } = spawnSync("bash", ["-c", '"$@" 200</dev/null', "bash", ...words], { encoding: "utf8" });
  expect(stdout).toBe("closed\nworks\n");
});
