import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { requireKoffi } from "../../src/libc/koffi.js";

const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

/** Packages that export their names and versions, in folders of a directory of their own. */
function install(folder: string, packages: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "libc ")));
  directories.push(root);
  for (const [name, version] of Object.entries(packages)) {
    mkdirSync(join(root, folder, name), { recursive: true });
    const text = JSON.stringify({ name, version });
    writeFileSync(join(root, folder, name, "package.json"), text);
    writeFileSync(join(root, folder, name, "index.js"), `module.exports = ${text};`);
  }
  return root;
}

const native = `@koromix/koffi-${process.platform}-${process.arch}`;
const load = (root: string) => requireKoffi(createRequire(join(root, "file.js")));

describe("the native code of koffi", () => {
  it("is taken from the package for this platform that is beside koffi", () => {
    expect(load(install("node_modules", { koffi: "3.0.1", [native]: "3.0.1" }))).toHaveProperty("name", native);
  });

  it("is found where koffi is a link", () => {
    const store = install("store/node_modules", { koffi: "3.0.1", [native]: "3.0.1" });
    mkdirSync(join(store, "node_modules"));
    symlinkSync(join(store, "store/node_modules/koffi"), join(store, "node_modules/koffi"));
    expect(load(store)).toHaveProperty("name", native);
  });

  it.skipIf(process.platform !== "linux")("is the file for glibc where Node uses that, on Linux", () => {
    const require = createRequire(import.meta.url);
    const { version } = require("koffi") as { version: string };
    const root = install("node_modules", { koffi: version, [native]: version });
    const folder = join(root, "node_modules", native, `linux_${process.arch}`);
    mkdirSync(folder);
    const real = Object.keys(require.cache).find((path) => path.endsWith("koffi.node"))!;
    symlinkSync(real, join(folder, "koffi.node"));
    expect(load(root)).toBe(require(real));
  });

  it.each([
    ["there is no such package", {}],
    ["that is of another version", { [native]: "3.0.2" }],
  ])("is left to koffi where %s", (_, others) => {
    expect(load(install("node_modules", { koffi: "3.0.1", ...others }))).toHaveProperty("name", "koffi");
  });

  it("is there as the whole koffi has it", () => {
    const require = createRequire(import.meta.url);
    const whole = require("koffi") as { version: string; address: unknown; errno: unknown };
    expect(requireKoffi(require)).toMatchObject({
      version: whole.version,
      address: whole.address,
      errno: whole.errno,
      load: expect.any(Function) as unknown,
    });
  });
});
