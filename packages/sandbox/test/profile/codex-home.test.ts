import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { toFileUrl } from "@codex/exec-server-protocol";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT, useSandboxedFiles, wireSandbox } from "../../../host-files/test/sandboxed/support.js";
import { base64, callFiles } from "../../../host-files/test/support.js";
import { ENV, outputOf } from "../../../process-host/test/support.js";
import { createCommandSandbox } from "../../src/command-sandbox.js";
import { createHostFiles } from "../../src/profile/host-files.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict } from "../support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(
  `the directory of codex in a workspace (${NO_BUBBLEWRAP ?? "bubblewrap"})`,
  () => {
    const files = useSandboxedFiles();
    let base: string;
    let backend: ExecBackend | undefined;
    beforeEach(() => {
      base = realpathSync(mkdtempSync("/var/tmp/codex-home-"));
    });
    afterEach(async () => {
      await backend?.close();
      rmSync(base, { recursive: true, force: true });
    });
    const open = (home: string) => createCommandSandbox({ files: createHostFiles({ ...ENV, CODEX_HOME: home }) });

    it.each([true, false])("is not written by commands nor by file calls, there before: %s", async (there) => {
      const home = join(base, "state/codex");
      if (there) mkdirSync(join(home, "rules"), { recursive: true });
      const sandbox = open(home);
      backend = createLocalBackend({ sandbox });
      const command = await backend.start({
        argv: [
          "bash",
          "-c",
          `mkdir -p ${home}/rules; echo x > ${home}/rules/own.rules; mv state other; echo x > ${base}/f`,
        ],
        cwd: base,
        env: ENV,
        stdio: { kind: "pipe", stdin: "null" },
        sandbox: restrict([READ_ALL, entry(base, "write")]),
      });
      await outputOf(command);
      const boxed = wireSandbox([ROOT, { path: { type: "path", path: toFileUrl(base) }, access: "write" }]);
      const connection = files.connect(sandbox);
      const write = (path: string) =>
        callFiles(connection, "writeFile", { path: toFileUrl(path), dataBase64: base64("x"), sandbox: boxed });
      expect(await write(join(home, "config.toml"))).toMatchObject({ code: expect.any(Number) });
      expect(await write(join(base, "g"))).toEqual({});
      await connection.dispose();
      expect(readdirSync(base).sort()).toEqual(there ? ["f", "g", "state"] : ["f", "g"]);
      expect(existsSync(join(home, "config.toml"))).toBe(false);
      if (there) expect(readdirSync(join(home, "rules"))).toEqual([]);
    });

    it.each([true, false])("installed servers are not changed in a writable cache, there before: %s", async (there) => {
      const cache = join(base, "codex-ts");
      if (there) mkdirSync(cache);
      const files = createHostFiles({ ...ENV, CODEX_HOME: "/nonexistent/codex", XDG_CACHE_HOME: base });
      backend = createLocalBackend({ sandbox: createCommandSandbox({ files }) });
      const command = await backend.start({
        argv: ["bash", "-c", `mkdir -p ${cache}/1; echo x > ${cache}/file; mv codex-ts other; echo x > f`],
        cwd: base,
        env: ENV,
        stdio: { kind: "pipe", stdin: "null" },
        sandbox: restrict([READ_ALL, entry(base, "write")]),
      });
      await outputOf(command);
      expect(readdirSync(base).sort()).toEqual(there ? ["codex-ts", "f"] : ["f"]);
      if (there) expect(readdirSync(cache)).toEqual([]);
    });

    it("is refused as the workspace itself, with what to do", async () => {
      backend = createLocalBackend({ sandbox: open(base) });
      const start = backend.start({
        argv: ["true"],
        cwd: base,
        env: ENV,
        stdio: { kind: "pipe", stdin: "null" },
        sandbox: restrict([READ_ALL, entry(base, "write")]),
      });
      await expect(start).rejects.toMatchObject({
        code: "sandbox_invalid",
        message: expect.stringContaining("give CODEX_HOME a directory of its own"),
      });
    });
  },
);
