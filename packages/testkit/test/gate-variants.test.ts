// Each way to hide a program from the text of a command, run for real through the exec gate with a rule that forbids the program.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createLocalBackend } from "@codex/process-host";
import { afterAll, describe, expect, it } from "vitest";
import { VARIANTS } from "../../policy/test/variants/all.js";
import { fill, findReason, title, type Variant } from "../../policy/test/variants/variant.js";

/** All of them: `CODEX_GATE_VARIANTS=1`. */
const EVERY = Number(process.env.CODEX_GATE_VARIANTS ?? 16);
const TIME_LIMIT_MS = 30_000;

const base = realpathSync(mkdtempSync(join(/\s/.test(tmpdir()) ? "/tmp" : tmpdir(), "gated-")));
const backend = createLocalBackend();
afterAll(async () => {
  await backend.close();
  rmSync(base, { recursive: true, force: true });
});

const gate = {
  rules: [{ id: "no zap", pattern: [["zap"]], decision: "refuse" as const, place: { kind: "inside" as const } }],
  hostExecutables: [],
  approved: [],
};

/** A copy under another name is another program: see `docs/decisions/exec-gate.md`. */
const isCopy = ({ way, argv }: Variant): boolean =>
  way.includes("a copy or a link") || argv.join(" ").includes("install ZAP");

describe
  .runIf(process.platform === "linux" && process.arch === "x64")
  .concurrent("a forbidden program that is hidden", () => {
    const rows = VARIANTS.map((variant, index) => [index, title(variant), variant] as const);
    const chosen = rows.filter(([index, , variant]) => index % EVERY === 0 && !isCopy(variant));
    it.for(chosen)(
      "does not run: %i %s",
      { timeout: 120_000 },
      async ([index, , variant], { expect: expectHere, skip }) => {
        const reason = findReason(variant.needs);
        skip(reason !== undefined, reason);
        const control = await runVariant(variant, join(base, `${index}`), false);
        skip(control !== "it ran", "it runs only as a script");
        expectHere(await runVariant(variant, join(base, `${index}-gated`), true)).toBe("nothing ran");
      },
    );
  });

async function runVariant(variant: Variant, directory: string, isGated: boolean): Promise<string> {
  const work = join(directory, "work");
  const zap = join(directory, "zap");
  mkdirSync(work, { recursive: true });
  mkdirSync(`${zap}.d`);
  copyFileSync(realpathSync("/usr/bin/touch"), `${zap}.d/zap`);
  const mark = join(directory, "ran");
  writeFileSync(zap, assembleMarker(mark), { mode: 0o755 });
  const argv = fill(variant.argv, zap);
  const env = { PATH: `${directory}${delimiter}${process.env.PATH}`, HOME: directory, TERM: "xterm", LANG: "C.UTF-8" };
  const spec = { argv, cwd: work, env, stdio: { kind: "pipe", stdin: "null" } } as const;
  const started = await backend.start({ ...spec, ...(isGated ? { gate } : {}) });
  const timer = setTimeout(() => void started.terminate({ graceMs: 0 }), TIME_LIMIT_MS);
  await started.exited;
  clearTimeout(timer);
  await started.terminate({ graceMs: 0 });
  started.dispose();
  if (isGated) expect(started.gate?.kind).toBe("held");
  const usesBinary = variant.argv.some((word) => word.includes("ZAPBIN"));
  return existsSync(mark) || (usesBinary && existsSync(join(work, "x"))) ? "it ran" : "nothing ran";
}

/** A binary for x86-64 that makes this file: a shell that reads a script would start no program. */
function assembleMarker(path: string): Buffer {
  const code = Buffer.from("488d3d1a000000be41000000baa4010000b8020000000f0531ffb83c0000000f05", "hex");
  const header = Buffer.alloc(120);
  const size = header.length + code.length + Buffer.byteLength(path) + 1;
  header.write("7f454c46020101", "hex"); // ELF, 64 bits, little-endian
  header.writeUInt16LE(2, 16); // an executable
  header.writeUInt16LE(62, 18); // for x86-64
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BASE + BigInt(header.length), 24); // where it begins
  header.writeBigUInt64LE(64n, 32); // its only program header
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64); // loaded,
  header.writeUInt32LE(5, 68); // to be read and executed
  header.writeBigUInt64LE(BASE, 80);
  header.writeBigUInt64LE(BASE, 88);
  header.writeBigUInt64LE(BigInt(size), 96);
  header.writeBigUInt64LE(BigInt(size), 104);
  header.writeBigUInt64LE(0x1000n, 112);
  return Buffer.concat([header, code, Buffer.from(`${path}\0`)]);
}

const BASE = 0x400000n;
