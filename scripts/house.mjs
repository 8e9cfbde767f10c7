// Measures the house: how much there is, what depends on what, and what is there more than once.
// `house.mjs [CHECKOUT]…`: a column for each; packages must be built. Linux and macOS.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** An expression, or a text that is searched for, with words of a result that we have rendered. */
const OWN_SENTENCE =
  /(\/\^?[^/\n]*|(includes|startsWith|indexOf)\("[^"\n]*)\b(session ID|exited with code|[Ss]till running|Wall time|Chunk ID|unknown session|was lost|outcome is unknown|bearer token|was not found)\b/;

/** Mechanisms that should be there once, and what a file that has one of its own contains. */
const MECHANISMS = {
  "files that ask an approver": /\bapprover\(|\bapprove\(request/,
  "files that read our own sentences": OWN_SENTENCE,
  "files with a backoff": /(Ms|ms) \* 2\b|\* 2 \*\* |\*\* \(?attempt/,
  "files with an eviction":
    /of (this\.#)?\w+(\.keys\(\)|\.entries\(\)|\.values\(\))?\) \{\s*if \((this\.#)?\w+\.size <=|\.keys\(\)\.next\(\)|const \[oldest\] = /,
  "files that format what zod found": /\.issues\b/,
  "conditional members (`...(x === undefined ? {} : …)`)": /\.\.\.\([^()\n]+ === undefined \? [{][}] :/g,
};

const checkouts = process.argv.slice(2).map((name) => resolve(name));
if (checkouts.length === 0) checkouts.push(fileURLToPath(new URL("..", import.meta.url)));
const columns = [];
for (const checkout of checkouts) columns.push(await measure(checkout));
const names = Object.keys(columns[0]);
const width = Math.max(...names.map((name) => name.length));
for (const name of names)
  console.log([name.padEnd(width), ...columns.map((column) => String(column[name]).padStart(9))].join(" "));
// The programs of the measured calls are over; what they were run with may hold the process.
process.exit(0);

async function measure(checkout) {
  const packages = readPackages(checkout);
  const sources = packages.flatMap(({ directory }) => readSources(join(directory, "src")));
  const called = await filesOfACall(checkout);
  const count = (pattern) =>
    pattern.global
      ? sources.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0)
      : sources.filter(({ text }) => pattern.test(text)).length;
  return {
    packages: packages.length,
    "source files": sources.length,
    "lines of source": sources.reduce((sum, { lines }) => sum + lines, 0),
    "files of more than 400 lines": sources.filter(({ lines }) => lines > 400).length,
    "files of 380 to 400 lines": sources.filter(({ lines }) => lines >= 380 && lines <= 400).length,
    "arrows between packages": packages.reduce((sum, { dependencies }) => sum + dependencies.length, 0),
    "longest chain of packages": longestChain(packages),
    "files that a command passes": called.length,
    "packages that a command passes": new Set(called.map((file) => file.split("/")[0])).size,
    ...Object.fromEntries(Object.entries(MECHANISMS).map(([name, pattern]) => [name, count(pattern)])),
  };
}

/** The packages that users get. */
function readPackages(checkout) {
  return readdirSync(join(checkout, "packages"))
    .map((name) => join(checkout, "packages", name))
    .filter((directory) => existsSync(join(directory, "package.json")))
    .map((directory) => ({ directory, manifest: JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ directory, manifest: { name, dependencies = {} } }) => {
      return { directory, name, dependencies: Object.keys(dependencies).filter((each) => each.startsWith("@codex/")) };
    });
}

function readSources(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((file) => /\.m?ts$/.test(file))
    .map((file) => readFileSync(join(directory, file), "utf8"))
    .map((text) => ({ text: withoutComments(text), lines: text.split("\n").length - 1 }));
}

function withoutComments(text) {
  const isCode = (line) => !/^\s*(\/\*|\*|\/\/)/.test(line);
  return text.split("\n").filter(isCode).join("\n");
}

function longestChain(packages) {
  const lengths = new Map();
  const lengthFrom = (name) => {
    if (!lengths.has(name)) {
      const dependencies = packages.find((each) => each.name === name)?.dependencies ?? [];
      lengths.set(name, 1 + Math.max(0, ...dependencies.map(lengthFrom)));
    }
    return lengths.get(name);
  };
  return Math.max(...packages.map(({ name }) => lengthFrom(name)));
}

/** The files of which a function runs for one command in one process, from the call to its result. */
async function filesOfACall(checkout) {
  const { createLocalOrchestrator } = await import(pathToFileURL(join(checkout, "packages/local/dist/index.js")).href);
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" };
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false } });
  const call = () => orchestrator.callTool("exec_command", { cmd: "true", shell: "/bin/sh" });
  await call();
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await call();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
  await orchestrator.close();
  const root = pathToFileURL(join(checkout, "packages/")).href;
  return result
    .filter(
      ({ url, functions }) => url.startsWith(root) && !url.includes("/node_modules/") && functions.some(ranByName),
    )
    .map(({ url }) => url.slice(root.length));
}

/** The function without a name is the module itself. */
function ranByName({ functionName, ranges }) {
  return functionName !== "" && ranges[0].count > 0;
}
