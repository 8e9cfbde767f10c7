// Runs before each test file that shares its process with others: what it changed of the process, the next one would have.
import { afterAll, expect } from "vitest";

const EVENTS = [
  "exit",
  "beforeExit",
  "uncaughtException",
  "unhandledRejection",
  "warning",
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
];

function describeProcess() {
  return {
    env: { ...process.env },
    cwd: process.cwd(),
    umask: process.umask(),
    exitCode: process.exitCode,
    globals: Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith("__")),
    listeners: Object.fromEntries(EVENTS.map((event) => [event, process.listenerCount(event)])),
  };
}

const before = describeProcess();

afterAll(() => {
  expect(describeProcess(), "what a file changed of its process; see `OWN_PROCESS` in vitest.config.ts").toEqual(
    before,
  );
});
