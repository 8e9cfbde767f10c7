import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const FROM_PACKAGE = /^import \{([^}]*)\} from "(@codex\/[^"]+)";/gm;
const REEXPORT = /^export \{([^}]*)\} from "([^"]+)";/gm;

/**
 * A plugin for esbuild: what a source imports from the index of a package comes from the module that declares it. An index
 * imports all modules of its package, so a chunk would load all of them for one function.
 * @param indexes the file of each index by the name with which it is imported, such as `@codex/channel/websocket`
 */
export function directImports(indexes) {
  const known = new Map();
  return {
    name: "direct-imports",
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.m?ts$/ }, async ({ path }) => {
        const source = await readFile(path, "utf8");
        return { contents: source.replace(FROM_PACKAGE, importDirectly), loader: "ts" };
      });
    },
  };

  function importDirectly(_statement, names, from) {
    return readNames(names)
      .map(({ name, as }) => {
        const file = findModule(from, name);
        if (file === undefined) throw new Error(`${from} exports no ${name} of a module`);
        return `import { ${name} as ${as} } from ${JSON.stringify(file)};`;
      })
      .join(" ");
  }

  /** The file that declares a value: an index may export it from another package. */
  function findModule(from, name) {
    const index = indexes[from];
    if (index === undefined) throw new Error(`${from} is not a package of this workspace`);
    if (!known.has(index)) known.set(index, readValues(index));
    const value = known.get(index).get(name);
    if (value === undefined) return undefined;
    return value.from.startsWith(".")
      ? join(dirname(index), value.from.replace(/\.js$/, ".ts"))
      : findModule(value.from, value.name);
  }
}

/** Where each value that an index exports comes from, and its name there. */
function readValues(index) {
  const values = new Map();
  for (const [, names, from] of readFileSync(index, "utf8").matchAll(REEXPORT))
    for (const { name, as } of readNames(names)) values.set(as, { from, name });
  return values;
}

/** Names in the braces of an import or export, without types. */
const readNames = (names) =>
  names
    .split(",")
    .map((each) => each.trim())
    .filter((each) => each !== "" && !each.startsWith("type "))
    .map((each) => {
      const [name, as = name] = each.split(" as ");
      return { name, as };
    });
