import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createCommandLink, createRemoteEnvironment } from "../../src/index.js";
import { describeKind } from "./body.js";

/** The built command; `scripts/test` builds it before the tests. */
const codex = fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url));

describeKind("an environment behind an exec-server on stdio", {
  hasConnection: false,
  async open() {
    const link = createCommandLink({ program: process.execPath, args: [codex, "exec-server", "--listen", "stdio"] });
    const environment = createRemoteEnvironment({ id: "remote", kind: "command", link });
    return { environment, close: () => environment.close() };
  },
});

describeKind("an environment behind a program that joins an exec-server in the background", {
  async open() {
    const runtime = mkdtempSync(join(tmpdir(), "kind-"));
    const hostEnv = { ...process.env, XDG_RUNTIME_DIR: runtime };
    const pids = join(runtime, "pids");
    const attach = [codex, "exec-server", "--attach"];
    const script = 'echo $$ >>"$0"; exec "$@"';
    const link = createCommandLink({
      ...{ program: "sh", args: ["-c", script, pids, process.execPath, ...attach] },
      hostEnv,
    });
    const environment = createRemoteEnvironment({ id: "remote", kind: "command", link });
    return {
      environment,
      cut: () => void process.kill(Number(readFileSync(pids, "utf8").trim().split("\n").at(-1)), "SIGKILL"),
      async close() {
        await environment.close();
        await once(spawn(process.execPath, [...attach, "--stop"], { env: hostEnv, stdio: "ignore" }), "exit");
        rmSync(runtime, { recursive: true, force: true });
      },
    };
  },
});
