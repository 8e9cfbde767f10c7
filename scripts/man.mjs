// Writes man pages of `codex` and of all its commands, made from their help: node scripts/man.mjs DIRECTORY
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error("usage: node scripts/man.mjs DIRECTORY, such as /usr/local/share/man/man1");
  process.exit(2);
}
const codex = fileURLToPath(new URL("../packages/cli/dist/codex.js", import.meta.url));
const version = execFileSync(process.execPath, [codex, "--version"], { encoding: "utf8" }).trim().split(" ").pop();
mkdirSync(directory, { recursive: true });
writePages([]);

/** Writes the page of a command, and those of its subcommands. */
function writePages(path) {
  const help = execFileSync(process.execPath, [codex, ...path, "--help"], { encoding: "utf8" });
  const page = parseHelp(help);
  const name = ["codex", ...path].join("-");
  writeFileSync(join(directory, `${name}.1`), render(name, page));
  const commands = page.sections.find(({ title }) => title === "Commands")?.entries ?? [];
  for (const [usage] of commands) {
    const child = usage.split(/[ |]/)[0];
    if (child !== "help") writePages([...path, child]);
  }
}

/** Paragraphs, and sections of entries or lines. A line that begins at the left margin and ends in `:` begins a section. */
function parseHelp(help) {
  const [, usage = ""] = /^Usage: (.*(?:\n +.*)*)/.exec(help) ?? [];
  const rest = help.slice(help.indexOf(usage) + usage.length);
  const page = { usage: usage.replace(/\s+/g, " "), paragraphs: [], sections: [] };
  let section;
  for (const block of rest.split(/\n\n+/)) {
    const lines = block.split("\n").filter((line) => line.trim() !== "");
    const title = /^([A-Z][A-Za-z ]+):$/.exec(lines[0] ?? "")?.[1];
    if (title !== undefined) {
      section = { title, entries: [] };
      page.sections.push(section);
      addEntries(section, lines.slice(1));
    } else if (lines[0]?.startsWith("  ")) addEntries(section ?? page.sections.at(-1), lines);
    else if (lines.length > 0) {
      page.paragraphs.push(lines.join(" "));
      section = undefined;
    }
  }
  return page;
}

function addEntries(section, lines) {
  for (const line of lines) {
    const [, term, text] = /^ {2}(\S.*?)(?: {2,}(\S.*))?$/.exec(line) ?? [];
    if (term !== undefined) section.entries.push([term, text ?? ""]);
    else {
      const last = section.entries.at(-1);
      if (last !== undefined) last[1] = `${last[1]} ${line.trim()}`.trim();
    }
  }
}

function render(name, { usage, paragraphs, sections }) {
  const [summary = "", ...more] = paragraphs;
  const lines = [
    `.TH ${name.toUpperCase()} 1 "" "codex ${version}"`,
    ".SH NAME",
    `${toRoff(name)} \\- ${toRoff(summary)}`,
    ".SH SYNOPSIS",
    `.B ${toRoff(usage)}`,
    ".SH DESCRIPTION",
    ...(more.length === 0 ? [toRoff(`${summary}.`)] : more.flatMap((text) => [".PP", toRoff(text)])),
  ];
  for (const { title, entries } of sections) {
    lines.push(`.SH ${title === "Exit codes" ? "EXIT STATUS" : title.toUpperCase()}`);
    for (const [term, text] of entries) {
      if (title === "Examples") lines.push(".PP", ".nf", toRoff(text === "" ? term : `${term}    ${text}`), ".fi");
      else lines.push(".TP", `.B ${toRoff(term)}`, toRoff(text));
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Text of a page: a backslash, a hyphen and a leading dot or quote mean something there. */
function toRoff(text) {
  const plain = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
  return plain.replace(
    /[^\0-\x7e]/gu,
    (character) => `\\[u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
  );
}
