// Checks what the documentation says about files and packages.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const packages = readdirSync(join(root, "packages"));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const listPages = (directory: string): string[] =>
  readdirSync(join(root, directory))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(directory, name));

const pages = [
  ...["README.md", "AGENTS.md", "CONTRIBUTING.md"],
  ...listPages("docs"),
  ...listPages("docs/decisions"),
  ...packages.map((name) => `packages/${name}/README.md`),
];

/** Paths from the root, or from the package whose README it is. */
const PATH = /`((?:packages|docs|scripts|bench|examples|conformance|src|test)\/[\w./-]*\w\/?)`/g;
const LINK = /\]\(([^)\s#]+)(?:#[^)]*)?\)/g;

describe.each(pages)("%s", (page) => {
  const text = read(page);

  it("names files that exist", () => {
    const places = [root, join(root, dirname(page))];
    const missing = [...text.matchAll(PATH)]
      .map(([, path = ""]) => path)
      .filter((path) => !places.some((place) => existsSync(join(place, path))));
    expect(missing).toEqual([]);
  });

  it("installs no package from a registry that does not have it", () => {
    expect(text).not.toMatch(/\b(?:npm|pnpm|yarn|bun) (?:i|install|add)\b[^\n]*\s@codex\/|\bnpx @codex\//);
  });

  it("links to pages that exist", () => {
    const missing = [...text.matchAll(LINK)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(page), target)));
    expect(missing).toEqual([]);
  });
});

/** Without `values`, which nearly every package imports. */
const getImports = (name: string): string[] => {
  const { dependencies = {} } = JSON.parse(read(`packages/${name}/package.json`)) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(dependencies)
    .filter((each) => each.startsWith("@codex/"))
    .map((each) => each.slice("@codex/".length))
    .filter((each) => each !== "values");
};

it("docs/architecture.md lists every package", () => {
  const text = read("docs/architecture.md");
  const published = packages.filter((name) => name !== "testkit");
  expect(published.filter((name) => !text.includes(`[\`${name}\`](../packages/${name})`))).toEqual([]);
});

describe("docs/protocol.md", () => {
  const page = read("docs/protocol.md");
  const listMatches = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, name]) => name!);

  it("has every message", () => {
    const types = ["messages", "tunnel"].flatMap((name) =>
      listMatches(`packages/executor-protocol/src/${name}.ts`, /type: z\.literal\("([a-z_]+)"\)/g),
    );
    expect(types).toContain("call_tool");
    expect(types.filter((type) => !page.includes(`\`${type}\``))).toEqual([]);
  });

  it("has every argument of the unified-exec tools", () => {
    const source = read("packages/executor-protocol/src/unified-exec-request.ts").split(
      "execCommandRequestSchema = ",
    )[1]!;
    const members = [...source.matchAll(/^ {2}([a-zA-Z]+): /gm)].map(([, name]) => name!);
    expect(members).toContain("yieldTimeMs");
    expect(members.filter((name) => !page.includes(`\`${name}`))).toEqual([]);
  });
});

describe("the diagram of packages", () => {
  const diagram = /```mermaid\n([\s\S]*?)```/.exec(read("docs/architecture.md"))?.[1] ?? "";
  const arrows = diagram.split("\n").flatMap((line) => {
    const [from, to] = line.split("-->").map((side) => side.split("&").map((name) => name.trim()));
    return to === undefined ? [] : from!.flatMap((each) => to.map((other) => [each, other] as const));
  });
  const isReached = (from: string, to: string): boolean =>
    arrows.some(([one, other]) => one === from && (other === to || isReached(other, to)));

  it("has no arrow that is not a dependency", () => {
    expect(arrows.filter(([from, to]) => !getImports(from).includes(to))).toEqual([]);
  });

  it("has no arrow that follows from others", () => {
    const implied = arrows.filter(([from, to]) =>
      arrows.some(([one, other]) => one === from && other !== to && isReached(other, to)),
    );
    expect(implied).toEqual([]);
  });

  it("has every dependency, directly or by other arrows", () => {
    const shown = packages.filter((name) => name !== "testkit");
    const missing = shown.flatMap((name) =>
      getImports(name).flatMap((other) => (isReached(name, other) ? [] : [`${name} --> ${other}`])),
    );
    expect(missing).toEqual([]);
  });
});
