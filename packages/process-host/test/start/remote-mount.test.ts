import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RemoteMounts } from "@codex/native";
import { expect, it, onTestFinished } from "vitest";
import { createLocalBackend } from "../../src/local-backend.js";
import { ENV, outputOf } from "../support.js";

/** A mount at /usr that does not answer until it is let. */
function hang() {
  const asked: string[][] = [];
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const mounts: RemoteMounts = {
    isAt: () => false,
    reach(paths) {
      const wanted = [...paths];
      if (!wanted.some((path) => path.startsWith("/usr/lib"))) return undefined;
      asked.push(wanted);
      return answered;
    },
  };
  return { mounts, asked, answer };
}

const spec = { argv: ["/bin/sh", "-c", "pwd"], cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" } } as const;

it("a start on a mount that does not answer waits for it, and no other start does", async () => {
  const { mounts, asked, answer } = hang();
  await using backend = createLocalBackend({ mounts });
  let hasStarted = false;
  const waiting = backend.start({ ...spec, cwd: "/usr/lib" });
  void waiting.then(() => {
    hasStarted = true;
  });
  expect(await outputOf(await backend.start(spec))).toBe("/\n");
  expect(hasStarted).toBe(false);
  expect(asked).toEqual([["/usr/lib", "/bin/sh"]]);
  answer();
  expect(await outputOf(await waiting)).toBe("/usr/lib\n");
});

it("the places where a program is searched count as well", async () => {
  const { mounts, asked, answer } = hang();
  answer();
  await using backend = createLocalBackend({ mounts });
  const started = await backend.start({
    ...spec,
    argv: ["sh", "-c", "echo found"],
    env: { PATH: "/usr/lib:lib:/bin" },
  });
  expect(await outputOf(started)).toBe("found\n");
  expect(asked).toEqual([["/", "/usr/lib/sh", "/lib/sh", "/bin/sh"]]);
});

it("the interpreter of a script counts as well", async () => {
  const { mounts, asked, answer } = hang();
  const directory = mkdtempSync(join(tmpdir(), "codex-script-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const script = join(directory, "script");
  writeFileSync(script, "#! /usr/lib/../bin/env sh\necho found\n", { mode: 0o755 });
  await using backend = createLocalBackend({ mounts });
  const waiting = backend.start({ ...spec, argv: [script] });
  await expect.poll(() => asked).toEqual([["/usr/lib/../bin/env"]]);
  answer();
  expect(await outputOf(await waiting)).toBe("found\n");
});

it("a start on a mount that does not answer is given up with its call, and nothing is started later", async () => {
  const { mounts, answer } = hang();
  const ran = join(mkdtempSync(join(tmpdir(), "codex-given-up-")), "ran");
  onTestFinished(() => rmSync(dirname(ran), { recursive: true }));
  await using backend = createLocalBackend({ mounts });
  const call = new AbortController();
  const waiting = backend.start({ ...spec, argv: ["/usr/bin/touch", ran], cwd: "/usr/lib" }, call.signal);
  call.abort();
  await expect(waiting).rejects.toMatchObject({ name: "StartError", code: "unreachable" });
  const given = backend.start({ ...spec, cwd: "/usr/lib" }, call.signal);
  await expect(given).rejects.toMatchObject({ code: "unreachable" });
  answer();
  expect(await outputOf(await backend.start({ ...spec, cwd: "/usr/lib" }))).toBe("/usr/lib\n");
  expect(existsSync(ran)).toBe(false);
});

it("closing does not wait for a mount that does not answer, and nothing is started afterwards", async () => {
  const { mounts, answer } = hang();
  const backend = createLocalBackend({ mounts });
  const waiting = backend.start({ ...spec, cwd: "/usr/lib" });
  const refused = expect(waiting).rejects.toMatchObject({ code: "closed" });
  await backend.close();
  answer();
  await refused;
});
