import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "@codex/values";

/** A native library whose functions are looked up by their C prototypes. */
export interface Library {
  /** @throws when the library lacks the function */
  func(prototype: string): (...args: unknown[]) => number;
}

interface Koffi {
  load(path: null): Library;
  /** `errno` of the last call. */
  errno(): number;
  address(buffer: Uint8Array): bigint;
}

/** `errno` of the last call, as in errno.h. */
export const lastErrno = (): number => loadKoffi().errno();

/** Address of a buffer, valid as long as the buffer is referenced. */
export const addressOf = (buffer: Uint8Array): bigint => loadKoffi().address(buffer);

export const loadKoffi = (): Koffi => requireNative("koffi", requireKoffi) as Koffi;

/** A C library without functions: features that need one use their fallback, or report that it is missing. */
export const NO_LIBRARY: Library = {
  func(prototype) {
    throw new Error(`koffi is not installed, which is needed to call \`${prototype}\``);
  },
};

/**
 * Loads the native code of koffi without koffi's JavaScript, which would double the time that this takes. Where the package
 * for this platform is missing or is of another version, koffi is loaded as a whole and finds its native code itself.
 */
export function requireKoffi(require: NodeJS.Require): unknown {
  const found = (require.resolve.paths("koffi") ?? []).map((path) => join(path, "koffi")).find(existsSync);
  try {
    if (found !== undefined) {
      const directory = realpathSync(found);
      const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { version: string };
      const native = require(nativePath(join(directory, "..", KOFFI_NATIVE))) as { version: string };
      if (native.version === version) return native;
    }
  } catch {
    // Such as when it was built from source.
  }
  return require("koffi");
}

/** The package, or its file for glibc: the package would search Node's program for its C library, which takes longer than loading the file. */
function nativePath(directory: string): string {
  const file = join(directory, `linux_${process.arch}`, "koffi.node");
  const isGlibc = existsSync(file) && !/\/ld-musl-/.test(readFileSync("/proc/self/maps", "latin1"));
  return isGlibc ? file : directory;
}

/** The name in koffi 3. */
const KOFFI_NATIVE = `@koromix/koffi-${process.platform}-${process.arch}`;

/**
 * A `require` that looks where this code is: in a module, or in a bundle that it is a part of. Bundlers do not recognize it, and so
 * leave what it loads in its package.
 */
export const requireHere = (): NodeJS.Require =>
  process.getBuiltinModule("node:module").createRequire(typeof __filename === "string" ? __filename : import.meta.url);

/** Loads a module with native code. @throws an error that names the missing one and the reason */
export function requireNative(name: string, load = (require: NodeJS.Require) => require(name) as unknown): unknown {
  // Node does not follow a symbolic link to a module right after calling stat on a pipe or a socket.
  statSync("/");
  try {
    return load(requireHere());
  } catch (cause) {
    const [reason] = messageOf(cause).split("\n");
    const advice = "it has to be installed, for a bundle beside it";
    throw new Error(`the native code of \`${name}\` cannot be loaded (${reason}); ${advice}`, { cause });
  }
}
