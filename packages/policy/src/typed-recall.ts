import { MAX_RECALL } from "./limits.js";

/** An event with the words taken from it, as in `!!`, `!-2:1`, `!git:$`, `!?text?:2-`, `!$`; `!#` is the line itself. */
const EVENT =
  /(?<!\\)!(?:(!|#|-\d+|\?[^?\n]+\??|[\w./][^\s:;&|()<>'"`!$*]*)?((?::?[\^$*]|:\d+)(?:-\d*|\*)?)?)((?::g?s\/[^/\n]*\/[^/\n]*\/?)*)/g;

/**
 * The lines with bash's history expansion applied; `before` are earlier lines. An event that is not among them stays as
 * it stands. Undefined beyond `MAX_RECALL`.
 */
export function expandHistory(text: string, before: string): string | undefined {
  if (!/!|^\^/m.test(text)) return text;
  const earlier = before.split("\n").filter((line) => line !== "");
  const expanded: string[] = [];
  let effort = 0;
  for (const line of text.split("\n")) {
    const recall = (length: number): boolean => {
      effort += length + earlier.length;
      return effort <= MAX_RECALL;
    };
    const result = expandLine(line, earlier, recall);
    if (effort > MAX_RECALL) return undefined;
    if (result !== "") earlier.push(result);
    expanded.push(result);
  }
  return expanded.join("\n");
}

/** `recall` is told the length of each text that is inserted; false once it is too much. */
function expandLine(line: string, earlier: readonly string[], recall: (length: number) => boolean): string {
  const quick = /^\^([^^]+)\^([^^]*)\^?(.*)$/s.exec(line);
  if (quick !== null) {
    const last = earlier.at(-1) ?? "";
    recall(last.length);
    return `${last.replace(quick[1] ?? "", () => quick[2] ?? "")}${quick[3] ?? ""}`;
  }
  if (!line.includes("!")) return line;
  return line.replace(EVENT, (whole: string, name = "", words = "", changes = "", at: number) => {
    if (whole === "!" || !recall(0)) return whole;
    const event = name === "#" ? line.slice(0, at) : findEvent(name, earlier);
    if (event === undefined || !recall(event.length)) return whole;
    const chosen = applyChanges(chooseWords(event, words), changes);
    return recall(chosen.length) ? chosen : whole;
  });
}

function findEvent(name: string, earlier: readonly string[]): string | undefined {
  if (name === "" || name === "!") return earlier.at(-1);
  if (/^-\d+$/.test(name)) return earlier.at(Number(name));
  if (/^\d+$/.test(name)) return earlier[Number(name) - 1];
  if (name.startsWith("?")) return earlier.findLast((line) => line.includes(name.slice(1).replace(/\?$/, "")));
  return earlier.findLast((line) => line.startsWith(name));
}

/** `:1`, `^`, `$`, `*`, `:1-3`, `:1-`, `:1*`; all words without one. */
function chooseWords(event: string, designator: string): string {
  const parts = /^:?(?:(\^|\$|\*)|(\d+))(?:-(\d*)|(\*))?$/.exec(designator);
  if (parts === null) return event;
  const [, sign, number, to, rest] = parts;
  const words = event.trim().split(/\s+/);
  if (sign === "*") return words.slice(1).join(" ");
  const from = sign === "$" ? words.length - 1 : sign === "^" ? 1 : Number(number);
  const end = rest !== undefined ? words.length : to === undefined ? from + 1 : to === "" ? -1 : Number(to) + 1;
  return words.slice(from, end).join(" ");
}

function applyChanges(text: string, changes: string): string {
  let changed = text;
  for (const [, all, from = "", to = ""] of changes.matchAll(/:(g?)s\/([^/\n]*)\/([^/\n]*)\/?/g)) {
    if (from !== "") changed = all === "g" ? changed.replaceAll(from, () => to) : changed.replace(from, () => to);
  }
  return changed;
}
