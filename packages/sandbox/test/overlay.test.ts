import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { outputOf, untilOutput } from "../../process-host/test/support.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "./support.js";

/** An overlay whose lower layer has a workspace, as a container has one from its image. */
function mountOverlay(): { work: string; unmount(): void } {
  const base = mkdtempSync(join(tmpdir(), "codex-overlay-"));
  const unmount = () => {
    for (const path of [join(base, "merged"), base]) execFileSync("umount", ["-l", path], { stdio: "pipe" });
    rmSync(base, { recursive: true, force: true });
  };
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", base], { stdio: "pipe" });
  for (const name of ["lower/work/.git", "upper", "own", "merged"]) mkdirSync(join(base, name), { recursive: true });
  writeFileSync(join(base, "lower/work/.git/config"), "");
  const layers = ["lowerdir=lower", "upperdir=upper", "workdir=own"].map((each) => each.replace("=", `=${base}/`));
  try {
    execFileSync("mount", ["-t", "overlay", "overlay", "-o", layers.join(","), join(base, "merged")], {
      stdio: "pipe",
    });
  } catch (error) {
    execFileSync("umount", ["-l", base], { stdio: "pipe" });
    throw error;
  }
  return { work: join(base, "merged/work"), unmount };
}

function findProblem(): string | undefined {
  if (NO_BUBBLEWRAP !== undefined) return NO_BUBBLEWRAP;
  if (process.getuid?.() !== 0) return "only root can mount an overlay";
  try {
    mountOverlay().unmount();
    return undefined;
  } catch (error) {
    return `no overlay can be mounted: ${String(error).split("\n")[0]}`;
  }
}

const why = findProblem();

describe.skipIf(why !== undefined)(`a workspace on an overlay (${why ?? "bubblewrap"})`, () => {
  const sandbox = useSandbox();
  const start = async (script: string) => {
    const { work, unmount } = mountOverlay();
    onTestFinished(unmount);
    const command = await sandbox.start(["bash", "-c", `echo ready; ${script}`], {
      cwd: work,
      sandbox: restrict([READ_ALL, entry(work, "write")]),
    });
    await untilOutput(command, "ready");
    return { command, work };
  };

  it("keeps its command when something closed is first changed outside", async () => {
    const { command, work } = await start("until [ -e done ]; do sleep 0.01; done");
    writeFileSync(join(work, ".git/index"), "");
    writeFileSync(join(work, "done"), "");
    await outputOf(command);
    expect(command.outcome).toEqual({ kind: "exited", code: 0 });
  });

  it("ends its command when something closed is replaced outside", async () => {
    const { command, work } = await start("exec sleep 300");
    rmSync(join(work, ".git"), { recursive: true });
    mkdirSync(join(work, ".git"));
    expect(await command.exited).toEqual({ kind: "signaled", signal: "SIGKILL", by: "terminate" });
    expect(command.denial?.reason).toContain("was replaced outside");
  });
});
