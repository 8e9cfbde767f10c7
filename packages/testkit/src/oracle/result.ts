import xterm from "@xterm/headless";

/** How a program ended, and its output. */
export interface OracleResult {
  stdout: Buffer;
  stderr: Buffer;
  /** 128 + n for signal n. */
  code: number;
}

export const ROWS = 24;
export const COLS = 80;

/** The rows of a terminal after all output of a program. */
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

/** The difference of two results in one line; undefined when they are equal. */
export async function compareResults(
  expected: OracleResult,
  actual: OracleResult,
  screen: boolean,
): Promise<string | undefined> {
  if (expected.code !== actual.code) return `code ${actual.code} instead of ${expected.code}`;
  if (screen) {
    const [left, right] = await Promise.all([renderScreen(expected.stdout), renderScreen(actual.stdout)]);
    const row = left.findIndex((text, index) => text !== right[index]);
    return row === -1
      ? undefined
      : `row ${row + 1} ${JSON.stringify(right[row])} instead of ${JSON.stringify(left[row])}`;
  }
  return (
    compareBytes("stdout", expected.stdout, actual.stdout) ?? compareBytes("stderr", expected.stderr, actual.stderr)
  );
}

function compareBytes(what: string, expected: Buffer, actual: Buffer): string | undefined {
  if (expected.equals(actual)) return undefined;
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  const show = (bytes: Buffer) => JSON.stringify(bytes.subarray(at, at + 40).toString("latin1"));
  return `${what}: ${actual.length} of ${expected.length} bytes; at ${at} ${show(actual)} instead of ${show(expected)}`;
}
