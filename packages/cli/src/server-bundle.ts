import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { BundleFile, BundleTarget, ServerBundle } from "@codex/environments";
import { VERSION } from "@codex/servers";
import { WITHOUT_NATIVE } from "@codex/servers/local-exec-server";

/** What `codex exec-server` needs of this command: paths there, and here where they differ. */
const OWN_FILES: readonly (readonly [path: string, from?: string])[] = [
  ["codex.js"],
  ["package.json"],
  ["parts/attach.cjs"],
  ["parts/exec-server.cjs"],
  ["parts/file-helper.cjs"],
  ["parts/program.cjs", "parts/server-program.cjs"],
];

/**
 * The exec-server of this very command, for hosts that lack it. Native code is added for platforms whose native code is installed here.
 * @param command the built command
 */
export function createServerBundle(command = process.argv[1]!): ServerBundle {
  const file = realpathSync(command);
  const home = dirname(file);
  const own: BundleFile[] = OWN_FILES.map(([path, from = path]) => ({ path, bytes: readFileSync(join(home, from)) }));
  const koffi = findPackage(file, "koffi");
  const pty = findPackage(file, "node-pty");
  const hash = createHash("sha256");
  for (const { path, bytes } of own) hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  for (const directory of [koffi, pty]) hash.update(readFileSync(join(directory, "package.json")));
  const id = `${VERSION}-${hash.digest("hex").slice(0, 16)}`;
  return {
    id,
    targets: listTargets(koffi),
    async listFiles(target) {
      const native = listNativeFiles(target, { koffi, pty });
      if (native !== undefined) return { files: [...own, ...(await Promise.all(native.map(readBundled)))] };
      return { files: [...own, { path: WITHOUT_NATIVE, bytes: new Uint8Array() }], lacks: describeLack(target) };
    },
  };
}

/** Hosts whose native code is installed here. */
function listTargets(koffi: string): BundleTarget[] {
  const directory = join(dirname(koffi), "@koromix");
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.flatMap((name) => {
    const [, platform = "", arch = ""] = /^koffi-([^-]+)-([^-]+)$/.exec(name) ?? [];
    const libcs = platform === "linux" ? (["glibc", "musl"] as const) : (["other"] as const);
    return libcs.map((libc) => ({ platform, arch, libc }));
  });
}

/** Directory of a package that the command needs. Not all export their package.json. */
function findPackage(file: string, name: string): string {
  const places = (createRequire(file).resolve.paths(name) ?? []).map((path) => join(path, name));
  const found = places.find((path) => existsSync(join(path, "package.json")));
  if (found === undefined) throw new Error(`\`${name}\` is not installed beside this command`);
  return realpathSync(found);
}

const readBundled = async ([path, at]: [string, string]): Promise<BundleFile> => ({ path, bytes: await readFile(at) });

const describeLack = ({ platform, arch, libc }: BundleTarget): string =>
  `there is no native code for ${platform}-${arch}${libc === "musl" ? " with musl" : ""} here: ` +
  "programs run on pipes only there, without a terminal";

/** Paths in the bundle and here, in the layout in which they are looked up. Undefined for a platform whose files are not installed here. */
function listNativeFiles(
  { platform, arch, libc }: BundleTarget,
  { koffi, pty }: { koffi: string; pty: string },
): [path: string, at: string][] | undefined {
  const host = `${platform}-${arch}`;
  const binding = join(dirname(koffi), "@koromix", `koffi-${host}`);
  const library = `${platform === "linux" && libc === "musl" ? "musl" : platform}_${arch}/koffi.node`;
  if (!existsSync(join(binding, library))) return undefined;
  const files: [string, string][] = [
    ["node_modules/koffi/package.json", join(koffi, "package.json")],
    ...["package.json", "index.js", library].map((name): [string, string] => [
      `node_modules/@koromix/koffi-${host}/${name}`,
      join(binding, name),
    ]),
    ["node_modules/node-pty/package.json", join(pty, "package.json")],
    ["node_modules/node-pty/lib/utils.js", join(pty, "lib/utils.js")],
  ];
  const isSame = process.platform === platform && process.arch === arch;
  const built = isSame && existsSync(join(pty, "build/Release/pty.node")) ? "build/Release" : `prebuilds/${host}`;
  for (const name of ["pty.node", "spawn-helper"]) {
    const at = join(pty, built, name);
    if (existsSync(at)) files.push([`node_modules/node-pty/${built}/${name}`, at]);
  }
  return files;
}
