import { closeSync, openSync } from "node:fs";
import { createLocalBackend } from "@codex/process-host";
import { createCommandSandbox } from "@codex/sandbox";

/** What is said when this process has no descriptors left, and when it has some again. To be started with a low limit of them. */
const backend = createLocalBackend();
const sandbox = createCommandSandbox();
const tryTerminal = async () => {
  try {
    const env = { PATH: process.env.PATH ?? "/usr/bin:/bin" };
    const started = await backend.start({ argv: ["true"], cwd: "/", env, stdio: { kind: "pty" } });
    return (await started.exited).kind;
  } catch (error) {
    return error.message;
  }
};
const look = async () => ({ terminal: await tryTerminal(), support: await sandbox.getSupport() });
await tryTerminal(); // everything is loaded
const open = [];
const take = (least) => {
  try {
    for (;;) open.push(openSync("/dev/null"));
  } catch {
    for (let count = 0; count < least; count += 1) closeSync(open.pop());
  }
};
take(0);
const without = await look();
take(1);
const withOne = await look();
for (const fd of open.splice(0)) closeSync(fd);
process.stdout.write(JSON.stringify({ without, withOne, with: await look() }));
await backend.close();
