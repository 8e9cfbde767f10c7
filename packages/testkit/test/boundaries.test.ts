import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../../", import.meta.url));

/** The arrows of docs/architecture.md: what each package may import of the others. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "file-lock": [],
  telemetry: [],
  audit: ["file-lock", "telemetry"],
  channel: [],
  "executor-protocol": [],
  "exec-backend": ["executor-protocol", "telemetry"],
  "exec-server-protocol": ["channel", "executor-protocol"],
  native: [],
  sandbox: ["exec-backend", "executor-protocol", "native"],
  "host-files": ["channel", "exec-backend", "exec-server-protocol", "executor-protocol", "native", "sandbox"],
  "shell-snapshot": ["exec-backend", "executor-protocol"],
  "exec-server": [
    "channel",
    "exec-backend",
    "exec-server-protocol",
    "executor-protocol",
    "host-files",
    "native",
    "shell-snapshot",
    "telemetry",
  ],
  "exec-server-client": ["channel", "exec-backend", "exec-server-protocol", "executor-protocol", "telemetry"],
  executor: ["channel", "exec-backend", "executor-protocol", "shell-snapshot", "telemetry"],
  starlark: [],
  policy: ["executor-protocol", "file-lock", "starlark", "telemetry"],
  orchestrator: ["audit", "channel", "executor-protocol", "policy", "telemetry"],
  "process-host": ["exec-backend", "executor-protocol", "native", "sandbox", "telemetry"],
  cli: [
    "audit",
    "channel",
    "exec-backend",
    "exec-server",
    "exec-server-client",
    "exec-server-protocol",
    "executor",
    "executor-protocol",
    "host-files",
    "native",
    "orchestrator",
    "policy",
    "process-host",
    "sandbox",
    "telemetry",
  ],
  testkit: [
    "channel",
    "exec-backend",
    "exec-server",
    "exec-server-client",
    "executor",
    "executor-protocol",
    "orchestrator",
    "process-host",
    "telemetry",
  ],
};

/** Names that a source file imports, with what stands before the path where it matters. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(
    /^(?:import|export)\s+(?:[^"=;]*?\bfrom\s+)?"([^"]+)";$|\b(?:import|requireNative|(?:require|createRequire\(import\.meta\.url\))(?:\.resolve)?)\(\s*["'`]([^"'`]+)/gm,
  );
  return [...found].map((match) => match[1] ?? match[2] ?? "");
}

function sourcesOf(name: string): string[] {
  const root = join(packages, name, "src");
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => join(root, path));
}

describe.each(Object.keys(ALLOWED))("package %s", (name) => {
  const sources = sourcesOf(name);
  const imports = sources.flatMap((file) => importsOf(file).map((specifier) => ({ file, specifier })));

  it("imports only what the arrows allow, and declares it", () => {
    const used = new Set(
      imports.flatMap(({ specifier }) => {
        const match = /^@codex\/([^/]+)/.exec(specifier);
        return match?.[1] === undefined ? [] : [match[1]];
      }),
    );
    const manifest = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    for (const other of used) {
      expect(ALLOWED[name], `${name} imports ${other}`).toContain(other);
      expect(manifest.dependencies).toHaveProperty(`@codex/${other}`);
    }
  });

  it("declares every library it imports", () => {
    const manifest = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
      peerDependencies?: Record<string, string>;
    };
    const declared = { ...manifest.dependencies, ...manifest.peerDependencies };
    const libraries = new Set(
      imports
        .map(({ specifier }) => specifier)
        .filter((specifier) => !/^(\.|node:|@codex\/)/.test(specifier))
        .map((specifier) =>
          specifier
            .split("/")
            .slice(0, specifier.startsWith("@") ? 2 : 1)
            .join("/"),
        ),
    );
    for (const library of libraries) expect(declared, library).toHaveProperty([library]);
  });

  it("has one door that nobody inside comes in by, and hides nothing behind a star", () => {
    for (const { file, specifier } of imports) {
      if (specifier.startsWith(".")) expect(specifier, file).not.toMatch(/^\.\.?\/(\.\.\/)*index\.js$/);
    }
    for (const file of sources) expect(readFileSync(file, "utf8"), file).not.toMatch(/^export \*/m);
  });

  it("uses the small schemas only", () => {
    for (const { file, specifier } of imports) expect(specifier, file).not.toBe("zod");
  });
});

it.each([
  ["node-pty", "native.ts"],
  ["koffi", "libc.ts"],
])("touches %s in one file", (library, user) => {
  const users = Object.keys(ALLOWED)
    .flatMap(sourcesOf)
    .filter((file) => importsOf(file).some((specifier) => `${specifier}/`.startsWith(`${library}/`)));
  expect(users.map((file) => file.slice(packages.length))).toEqual([join("native", "src", user)]);
});
