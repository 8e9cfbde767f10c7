import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { outputOf, untilOutput } from "../../process-host/test/support.js";
import { mirrorClosed } from "../src/bubblewrap/mirror.js";
import { MAX_MIRRORED } from "../src/limits.js";
import { createHostFiles } from "../src/profile/host-files.js";
import { resolveProfile } from "../src/profile/resolve-profile.js";
import { entry, NO_BUBBLEWRAP, pattern, READ_ALL, restrict, useSandbox } from "./support.js";

describe.skipIf(NO_BUBBLEWRAP !== undefined)(
  `what is closed and replaced outside (${NO_BUBBLEWRAP ?? "bubblewrap"})`,
  () => {
    const sandbox = useSandbox();
    let home: string;
    let work: string;
    const secret = () => join(home, ".git-credentials");
    beforeEach(() => {
      home = join(sandbox.base, "home");
      work = join(home, "src/work");
      for (const directory of ["home/src/work", "home/.config/tool", "home/open"]) {
        mkdirSync(join(sandbox.base, directory), { recursive: true });
      }
      writeFileSync(secret(), "classified\n");
      writeFileSync(join(home, ".config/tool/id_1"), "classified\n");
      writeFileSync(join(home, "plain"), "plain\n");
      symlinkSync("plain", join(home, "link"));
    });
    const entries = () => [
      ...[READ_ALL, entry(work, "write"), entry(secret(), "deny")],
      pattern(join(home, ".config/tool/id_*")),
    ];
    const replace = (name: string, text = "classified\n") => {
      writeFileSync(join(sandbox.base, "new"), text);
      renameSync(join(sandbox.base, "new"), join(home, name));
    };

    it.each<[string, () => void]>([
      ["renamed over", () => replace(".git-credentials")],
      [
        "removed and made again",
        () => {
          unlinkSync(secret());
          writeFileSync(secret(), "classified\n");
        },
      ],
      [
        "moved away, and another one made",
        () => {
          renameSync(secret(), join(home, "moved"));
          writeFileSync(secret(), "classified\n");
        },
      ],
      [
        "replaced beside one that a pattern did not find",
        () => {
          replace(".config/tool/id_1");
          replace(".config/tool/id_2");
        },
      ],
    ])("stays closed to a command that runs: %s", async (how, change) => {
      const names = [".git-credentials", "moved", ".config/tool/id_1", ".config/tool/id_2"].map((name) =>
        join(home, name),
      );
      const script = `n=0; while [ ! -e done ]; do cat ${names.join(" ")} 2>/dev/null; n=$((n + 1)); [ $n = 5 ] && echo ready; done; cat ${names.join(" ")} 2>/dev/null; echo end`;
      const command = await sandbox.start(["bash", "-c", script], { cwd: work, sandbox: restrict(entries()) });
      await untilOutput(command, "ready");
      change();
      // So many looks after the change; the last one is over when the command ends.
      const more = await sandbox.script(`for n in 1 2 3 4 5; do cat ${names.join(" ")}; done`, {
        cwd: work,
        sandbox: restrict(entries()),
      });
      writeFileSync(join(work, "done"), "");
      const output = await outputOf(command);
      expect(output).toBe("ready\nend\n");
      expect(more.output.includes("classified")).toBe(how.startsWith("moved")); // a new sandbox sees the new name
    });

    it.each<[string, () => string]>([
      ["a denied file", () => join(work, "secret")],
      ["the configuration of an opened git directory", () => join(work, ".git/config")],
      ["a denied directory", () => join(home, "open")],
      ["a name that is kept free", () => join(work, ".codex")],
    ])("ends the command where the directory cannot be made anew: %s", async (_what, getPath) => {
      const path = getPath();
      mkdirSync(join(work, ".git"));
      for (const name of ["secret", ".git/config", ".git/HEAD"]) writeFileSync(join(work, name), "classified\n");
      const more = [entry(join(work, "secret"), "deny"), entry(join(home, "open"), "deny")];
      const git = [entry(join(work, ".git"), "write"), entry(join(work, ".git/config"), "read")];
      const command = await sandbox.start(["bash", "-c", "echo ready; exec sleep 300"], {
        cwd: work,
        sandbox: restrict([READ_ALL, entry(work, "write"), ...more, ...git]),
      });
      await untilOutput(command, "ready");
      renameSync(path, join(sandbox.base, "former"));
      expect(await command.exited).toEqual({ kind: "signaled", signal: "SIGKILL", by: "terminate" });
      expect(command.denial?.reason).toContain(`\`${path}\`, which is closed`);
      expect(command.denial).toEqual({
        certain: true,
        reason: expect.stringMatching(/was replaced outside; until then the new one was open to it, so check it$/),
      });
    });

    it.each<[string, () => string]>([
      ["in a directory that it writes", () => join(work, "d")],
      ["further out", () => join(work, "d/e")],
      ["the workspace itself", () => work],
      ["in a directory that it reads", () => join(home, ".config/tool")],
      ["around that one", () => join(home, ".config")],
    ])("ends the command where a directory around it is replaced: %s", async (_where, getPath) => {
      mkdirSync(join(work, "d/e"), { recursive: true });
      writeFileSync(join(work, "d/e/secret"), "classified\n");
      const command = await sandbox.start(["bash", "-c", "echo ready; exec sleep 300"], {
        cwd: work,
        sandbox: restrict([...entries(), entry(join(work, "d/e/secret"), "deny")]),
      });
      await untilOutput(command, "ready");
      writeFileSync(join(work, "beside"), "");
      renameSync(getPath(), join(sandbox.base, "former"));
      expect(await command.exited).toEqual({ kind: "signaled", signal: "SIGKILL", by: "terminate" });
      expect(command.denial?.reason).toContain(`\`${getPath()}\`, which is closed`);
    });

    it("lets a command go on where what is closed is only written to", async () => {
      writeFileSync(join(work, "secret"), "classified\n");
      const command = await sandbox.start(["bash", "-c", "echo ready; read -r; echo end"], {
        cwd: work,
        sandbox: restrict([READ_ALL, entry(work, "write"), entry(join(work, "secret"), "deny")]),
        stdio: { kind: "pipe", stdin: "open" },
      });
      await untilOutput(command, "ready");
      writeFileSync(join(work, "secret"), "other\n");
      writeFileSync(join(work, ".codex/config.toml"), "");
      await command.write(Buffer.from("\n"));
      expect(await command.exited).toEqual({ kind: "exited", code: 0 });
    });

    it("leaves everything beside it as it is", async () => {
      chmodSync(join(home, "plain"), 0o640);
      const script = `cat ~/plain ~/link; readlink ~/link; stat -c %a ~/plain; ls -A ~; echo x > ~/f; echo x > ~/plain; echo x > f; rm ~/plain; ls -A ~/.config/tool; cat ~/.git-credentials`;
      const { output } = await sandbox.script(script, {
        cwd: work,
        env: { PATH: process.env.PATH ?? "", HOME: home, LC_ALL: "C" },
        sandbox: restrict(entries()),
      });
      const lines = output.split("\n");
      expect(lines.slice(0, 4)).toEqual(["plain", "plain", "plain", "640"]);
      expect(lines.slice(4, 10)).toEqual([".config", ".git-credentials", "link", "open", "plain", "src"]);
      expect(output.match(/Read-only file system/g)).toHaveLength(3);
      expect(output).toContain(".git-credentials: Permission denied");
      expect(readFileSync(join(work, "f"), "utf8")).toBe("x\n");
      expect(existsSync(join(home, "f"))).toBe(false);
      rmSync(join(home, "open"), { recursive: true });
    });

    it("is bounded: a directory of too many names is mounted as it is", () => {
      for (let at = 0; at <= MAX_MIRRORED; at += 1) writeFileSync(join(home, `f${at}`), "");
      const files = createHostFiles();
      const mirrors = (names: string[]) => {
        const asked = restrict([READ_ALL, ...names.map((name) => entry(join(home, name), "deny"))]);
        const { fileSystem } = mirrorClosed(resolveProfile(asked, files), files);
        if (fileSystem === "unrestricted") throw new Error("expected a restricted file system");
        return fileSystem.entries.filter(({ mirror }) => mirror !== undefined).map(({ path }) => path);
      };
      expect(mirrors([".git-credentials", ".config/tool/id_1"])).toEqual([join(home, ".config/tool")]);
    });
  },
);
