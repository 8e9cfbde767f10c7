import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const FROM_PACKAGE = /^import \{([^}]*)\} from "(@codex\/[^"]+)";/gm;
const REEXPORT = /^export \{([^}]*)\} from "(\.[^"]+)\.js";/gm;

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
    const index = indexes[from];
    if (!known.has(index)) known.set(index, readValues(index));
    const values = known.get(index);
    return readNames(names)
      .map(({ name, as }) => {
        const file = values.get(name);
        if (file === undefined) throw new Error(`${index} exports no ${name} of a module of its own`);
        return `import { ${name} as ${as} } from ${JSON.stringify(file)};`;
      })
      .join(" ");
  }
}

/** The file of each value that an index exports. */
function readValues(index) {
  const values = new Map();
  for (const [, names, from] of readFileSync(index, "utf8").matchAll(REEXPORT))
    for (const { name } of readNames(names)) values.set(name, join(dirname(index), `${from}.ts`));
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
