import { describe, expect, it } from "vitest";
import { loadShellParser } from "../src/parser.js";
import { parseChecked } from "../src/parser-check.js";

const parser = await loadShellParser();

describe("a parser that works", () => {
  it.each([
    ...[
      "",
      "  \n",
      "# only a comment",
      "ls",
      "  ls  \n\n",
      "a \\\n b",
      "\\\n",
      "a\u00a0b",
      "cat <<E\nx\nE",
      "a - <<'E'\n\nb $x\nE\nc",
    ],
    ...[
      'echo "a  $b  c"',
      "a;;b",
      "case x in a) b;; esac",
      "if",
      "'",
      "é 日本 $'\\x72'",
      "a\r\nb",
      "cat <<-E | sh\n\tx\nE\nls",
    ],
  ])("passes: %j", (script) => expect(() => parseChecked(parser, script)).not.toThrow());
});
