import { createRequire } from "node:module";
import type { Library } from "../src/libc/koffi.js";

/** The C library of this process as if it lacked functions. */
export function lacking(...names: readonly string[]): Library {
  const { load } = createRequire(import.meta.url)("koffi") as { load(path: null): Library };
  const library = load(null);
  return {
    func(prototype) {
      const name = names.find((missing) => prototype.includes(` ${missing}(`));
      if (name !== undefined) throw new Error(`Cannot find function '${name}' in shared library`);
      return library.func(prototype);
    },
  };
}
