import { describe, expect, it } from "vitest";
import { STDIO, useRealHosts } from "../support/real-host.js";

describe.each(STDIO)("a command on $name", ({ tty }) => {
  const open = useRealHosts();

  it("answers with its output and exit code as soon as it has ended", async () => {
    const client = open();
    const { text, output, result } = await client.exec({ command: ["sh", "-c", "echo one; exit 3"], tty });
    expect(output.replaceAll("\r", "")).toBe("one\n");
    const bytes = tty ? 5 : 4;
    expect(text).toMatch(
      /^Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 3\nOriginal token count: \d\nOutput:\none\r?\n$/,
    );
    expect(result).toMatchObject({
      exitCode: 3,
      outcome: { kind: "exited", code: 3 },
      closed: true,
      range: { from: 0, to: bytes },
      omitted: [],
      originalTokenCount: Math.ceil(bytes / 4),
    });
    expect(result).not.toHaveProperty("processId");
  });
});
