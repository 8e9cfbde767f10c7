import xterm from "@xterm/headless";

/** What a program came to. */
export interface OracleResult {
  stdout: Buffer;
  stderr: Buffer;
  /** 128 + n for signal n. */
  code: number;
}

export const ROWS = 24;
export const COLS = 80;

/** What is on a terminal once a program has written all of its output. */
function renderScreen(output: Buffer): Promise<string[]> {
  const terminal = new xterm.Terminal({ rows: ROWS, cols: COLS, allowProposedApi: true });
  return new Promise((resolve) => {
    terminal.write(output, () => {
      const { active } = terminal.buffer;
      const rows = Array.from({ length: ROWS }, (_, row) =>
        (active.getLine(active.baseY + row)?.translateToString(true) ?? "").trimEnd(),
      );
      terminal.dispose();
      resolve([...rows, `cursor ${active.cursorY + 1}:${active.cursorX + 1}`]);
    });
  });
}

/** How two results differ, in a line; undefined when they do not. */
export async function compareResults(
  wanted: OracleResult,
  got: OracleResult,
  screen: boolean,
): Promise<string | undefined> {
  if (wanted.code !== got.code) return `code ${got.code} instead of ${wanted.code}`;
  if (screen) {
    const [left, right] = await Promise.all([renderScreen(wanted.stdout), renderScreen(got.stdout)]);
    const row = left.findIndex((text, index) => text !== right[index]);
    return row === -1
      ? undefined
      : `row ${row + 1} ${JSON.stringify(right[row])} instead of ${JSON.stringify(left[row])}`;
  }
  return compareBytes("stdout", wanted.stdout, got.stdout) ?? compareBytes("stderr", wanted.stderr, got.stderr);
}

function compareBytes(what: string, wanted: Buffer, got: Buffer): string | undefined {
  if (wanted.equals(got)) return undefined;
  let at = 0;
  while (at < wanted.length && wanted[at] === got[at]) at += 1;
  const show = (bytes: Buffer) => JSON.stringify(bytes.subarray(at, at + 40).toString("latin1"));
  return `${what}: ${got.length} of ${wanted.length} bytes; at ${at} ${show(got)} instead of ${show(wanted)}`;
}
