import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { toFileUrl } from "@codex/exec-server-protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useSandboxedFiles, type WireEntry, wireSandbox } from "../../host-files/test/sandboxed/support.js";
import { entry, NO_BUBBLEWRAP, pattern, READ_ALL, restrict, useSandbox } from "./support.js";

/** Where a sandbox has, or could have, a mount of its own. */
const PLACES = ["/dev/shm", "/run", "/tmp", "/var/tmp"];

describe.skipIf(NO_BUBBLEWRAP !== undefined)(
  `below what a sandbox mounts itself (${NO_BUBBLEWRAP ?? "bubblewrap"})`,
  () => {
    const sandbox = useSandbox();
    const files = useSandboxedFiles();

    describe.each(PLACES)("%s", (place) => {
      const why = findProblem(place);
      describe.skipIf(why !== undefined)(why ?? "a workspace", () => {
        let base: string;
        let inside: string;
        beforeEach(() => {
          base = mkdtempSync(join(place, "codex-laid-"));
          inside = join(base, "w");
          for (const directory of ["w/.git/hooks", "w/keys", "w/deep/er", "extra", "beside"]) {
            mkdirSync(join(base, directory), { recursive: true });
          }
          for (const file of ["w/secret", "w/keys/id", "w/deep/er/.env", "beside/token"]) {
            writeFileSync(join(base, file), "classified");
          }
          writeFileSync(join(base, "beside/plain"), "plain");
        });
        afterEach(() => rmSync(base, { recursive: true, force: true }));
        const closed = () => [join(inside, "secret"), join(inside, "keys"), join(base, "beside/token")];

        it("keeps what is closed closed to commands", async () => {
          const entries = [
            ...[
              READ_ALL,
              entry(inside, "write"),
              entry(join(base, "extra"), "write"),
              entry(join(base, "beside"), "read"),
            ],
            ...[...closed().map((path) => entry(path, "deny")), pattern(`${base}/**/.env`)],
          ];
          const script = `cat secret keys/id deep/er/.env ../beside/token; cat ../beside/plain
          echo x > .git/hooks/pre-commit; mkdir .codex .aws; touch .agents/x; echo x > ../beside/plain
          echo x > ../extra/f; echo x > f; mkdir ../extra/.git`;
          const { output } = await sandbox.script(script, { cwd: inside, sandbox: restrict(entries) });
          expect(output).not.toContain("classified");
          expect(output).toContain("plain");
          expect(readdirSync(join(inside, ".git/hooks"))).toEqual([]);
          expect(readdirSync(inside).sort()).toEqual([".git", "deep", "f", "keys", "secret"]);
          expect(readdirSync(join(base, "extra"))).toEqual(["f"]);
          expect(readFileSync(join(base, "beside/plain"), "utf8")).toBe("plain");
        });

        it("keeps what is closed closed to file calls", async () => {
          const at = (path: string, access: WireEntry["access"]): WireEntry => ({
            path: { type: "path", path: toFileUrl(path) },
            access,
          });
          const root: WireEntry = { path: { type: "special", value: { kind: "root" } }, access: "read" };
          const boxed = wireSandbox([root, at(inside, "write"), ...closed().map((path) => at(path, "deny"))], {
            cwd: toFileUrl(inside),
          });
          const call = (method: string, path: string, more: object = {}) =>
            files.call(method, { path: toFileUrl(path), ...more }, boxed);
          const refused = { code: expect.any(Number) };
          for (const path of [join(inside, "secret"), join(inside, "keys/id")]) {
            expect(await call("readFile", path)).toMatchObject(refused);
          }
          const dataBase64 = Buffer.from("x").toString("base64");
          for (const name of [".git/hooks/pre-commit", ".codex/x"]) {
            expect(await call("writeFile", join(inside, name), { dataBase64 })).toMatchObject(refused);
          }
          await call("writeFile", join(inside, "f"), { dataBase64 });
          expect(readFileSync(join(inside, "f"), "utf8")).toBe("x");
          expect(existsSync(join(inside, ".git/hooks/pre-commit"))).toBe(false);
        });
      });
    });

    it("closes what is denied in the fresh /proc and /dev", async () => {
      const entries = [READ_ALL, entry("/proc/cpuinfo", "deny"), entry("/dev/full", "deny"), entry("/dev/shm", "deny")];
      const { output } = await sandbox.script("cat /proc/cpuinfo; : </dev/full; ls /dev/shm; ls /dev/null", {
        sandbox: restrict([...entries, entry(sandbox.base, "write")]),
      });
      expect(output).not.toContain("processor");
      expect(output.match(/Permission denied/g)).toHaveLength(3);
      expect(output).toContain("/dev/null\n");
    });

    it("says that a directory below /dev/shm is not there", async () => {
      await expect(sandbox.script("true", { cwd: "/dev/shm", sandbox: restrict([READ_ALL]) })).rejects.toMatchObject({
        code: "sandbox_invalid",
        message: expect.stringContaining("`/dev/shm`"),
      });
    });
  },
);

function findProblem(place: string): string | undefined {
  try {
    accessSync(place, constants.W_OK);
    return undefined;
  } catch {
    return `${place} cannot be written by this user`;
  }
}
