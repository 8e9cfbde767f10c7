/** One value in a file of git's configuration. */
export interface GitSetting {
  /** Section and name in lower case, without the subsection: `filter.clean`. */
  key: string;
  value: string;
}

/** Largest such file that is read, bytes. */
export const MAX_GIT_CONFIG_BYTES = 1024 * 1024;

/** The settings in a file of git's configuration (git-config(1), "Syntax"), in their order; lines that are none are left out. */
export function parseGitConfig(content: Buffer): GitSetting[] {
  const found: GitSetting[] = [];
  let section = "";
  for (const line of joinLines(content.toString())) {
    let rest = line.trimStart();
    const header = /^\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/.exec(rest);
    if (header !== null) {
      section = (header[1] ?? "").split(".", 1)[0]!.toLowerCase();
      rest = rest.slice(header[0].length).trimStart();
    }
    const setting = /^([A-Za-z][\w-]*)\s*(?:=|$)/.exec(rest);
    if (setting === null || section === "") continue;
    found.push({ key: `${section}.${setting[1]!.toLowerCase()}`, value: readValue(rest.slice(setting[0].length)) });
  }
  return found;
}

/** Lines, with those that a backslash continues. */
function joinLines(text: string): string[] {
  const lines: string[] = [];
  let open: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const whole: string = open === undefined ? line : open + line;
    const isContinued = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
    open = isContinued ? whole.slice(0, -1) : undefined;
    if (open === undefined) lines.push(whole);
  }
  if (open !== undefined) lines.push(open);
  return lines;
}

/** Without quotes, escapes and comments. */
function readValue(text: string): string {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "\\") {
      at += 1;
      value += ESCAPES[text.charAt(at)] ?? text.charAt(at);
    } else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === "#" || character === ";")) break;
    else if (isQuoted || value !== "" || !/\s/.test(character)) value += character;
    if (isQuoted || character === "\\" || !/\s/.test(character)) kept = value.length;
  }
  return value.slice(0, kept);
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };
