import { type Library, loadKoffi } from "./koffi.js";

/**
 * Functions of the C library by their prototypes. Each is bound on first access, which throws where the library lacks it:
 * a missing function disables only the features that need it.
 */
export function bindLibc<Functions>(
  prototypes: Readonly<Partial<Record<keyof Functions, string>>>,
  library: Library = loadKoffi().load(null),
): Functions {
  const bound = {};
  for (const [name, prototype] of Object.entries<string>(prototypes as Record<string, string>)) {
    Object.defineProperty(bound, name, {
      configurable: true,
      get() {
        const value = library.func(prototype);
        Object.defineProperty(bound, name, { value });
        return value;
      },
    });
  }
  return bound as Functions; // the members are those of `prototypes`
}

/** Whether the C library has the function. */
export function hasFunction<Functions>(functions: Functions, name: keyof Functions): boolean {
  try {
    return functions[name] !== undefined;
  } catch {
    return false;
  }
}
