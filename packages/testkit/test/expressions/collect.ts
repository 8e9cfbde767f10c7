import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** A regular expression of the sources. */
export interface Expression {
  source: string;
  flags: string;
  /** `file:line` of the first place, or the built file that constructs it. */
  place: string;
}

/** All regular expressions that are literals in the sources of packages, or constructed when a module is loaded. */
export function collectExpressions(packages: string): Expression[] {
  const names = readdirSync(packages).filter((name) => name !== "testkit");
  const literals = names.flatMap((name) =>
    ["src", "page"].flatMap((folder) =>
      listFiles(join(packages, name, folder), /\.tsx?$/).flatMap((file) => readLiterals(packages, file)),
    ),
  );
  // What the command constructs is applied to its own arguments; it is built as one program.
  const libraries = names.filter((name) => name !== "cli");
  const built = libraries.flatMap((name) => listFiles(join(packages, name, "dist"), /(?<!main)\.js$/));
  const found = new Map<string, Expression>();
  for (const each of [...literals, ...readConstructed(packages, built)]) {
    const key = `/${each.source}/${each.flags}`;
    if (!found.has(key)) found.set(key, each);
  }
  return [...found.values()];
}

function listFiles(folder: string, name: RegExp): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => name.test(path) && !path.includes("node_modules"))
      .map((path) => join(folder, path));
  } catch {
    return [];
  }
}

function readLiterals(root: string, file: string): Expression[] {
  const text = readFileSync(file, "utf8");
  const found: Expression[] = [];
  new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      const place = `${relative(root, file)}:${text.slice(0, node.start).split("\n").length}`;
      found.push({ source: node.regex.pattern, flags: node.regex.flags, place });
    },
  }).visit(parseSync(file, text).program);
  return found;
}

/** Loads every built module that constructs expressions, or one that imports it, in another process. */
function readConstructed(root: string, files: readonly string[]): Expression[] {
  const constructing = files.filter((file) => /\bRegExp\(/.test(readFileSync(file, "utf8")));
  const entries = new Set([
    ...files.filter((file) => /^[\w-]+\/dist\/index\.js$/.test(relative(root, file))),
    ...constructing,
  ]);
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", RECORD, ...entries], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return (JSON.parse(output) as { source: string; flags: string; file: string }[]).map(({ source, flags, file }) => ({
    source,
    flags,
    place: relative(root, file),
  }));
}

const RECORD = `
  const found = [];
  let file = "";
  globalThis.RegExp = new Proxy(RegExp, {
    construct(target, args, self) {
      const made = Reflect.construct(target, args, self);
      if (/packages\\/[\\w-]+\\/dist\\//.test(new Error().stack)) found.push({ source: made.source, flags: made.flags, file });
      return made;
    },
  });
  for (file of process.argv.slice(1)) await import(file);
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
`;
