// Start of `codex executor` until it has answered list_tools, against the start of Node itself.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { codex, interleave, median, printTable } from "./harness.mjs";

const ROUNDS = 30;

export async function run() {
  const subjects = { "node -e 0": bareNode, "codex executor": firstAnswer };
  await interleave(subjects, 3);
  const times = await interleave(subjects, ROUNDS);
  const bare = median(times["node -e 0"]);
  const rows = Object.entries(times).map(([name, values]) => ({
    name,
    "median ms": +median(values).toFixed(1),
    ratio: +(median(values) / bare).toFixed(2),
  }));
  printTable(`start → first answer, ${ROUNDS} rounds`, rows);
}

async function bareNode() {
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
}

/** Milliseconds until the answer; the end of the process is not part of it. */
async function firstAnswer() {
  const start = performance.now();
  const child = spawn(process.execPath, [codex, "executor"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write('{"type":"list_tools","requestId":"1"}\n');
  await once(child.stdout, "data");
  const ms = performance.now() - start;
  child.stdin.end();
  child.stdout.resume();
  await once(child, "exit");
  return ms;
}
