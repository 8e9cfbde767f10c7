import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getToday } from "@codex/agent-terminal";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

describe("the timezone of this host", () => {
  const { TZ } = process.env;
  let directory: string;
  let localtime: string;

  beforeEach(() => {
    delete process.env.TZ;
    directory = mkdtempSync(join(tmpdir(), "codex-timezone-"));
    localtime = join(directory, "localtime");
  });
  afterEach(() => {
    if (TZ !== undefined) process.env.TZ = TZ;
    else delete process.env.TZ;
    rmSync(directory, { recursive: true });
  });

  it.each([
    ["/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"],
    ["../usr/share/zoneinfo/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
    ["/var/db/timezone/zoneinfo/Etc/GMT+5", "Etc/GMT+5"],
  ])("is the name that %s ends with", (target, expected) => {
    symlinkSync(target, localtime);
    expect(getToday(localtime)).toEqual({ date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), timezone: expected });
  });

  const asked = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

  it("is that of Intl where the link names none", () => {
    expect(getToday(localtime).timezone).toBe(asked());
    symlinkSync("/etc/a zone", localtime);
    expect(getToday(localtime).timezone).toBe(asked());
  });

  it("is that of Intl where a copy is in the place of the link", () => {
    writeFileSync(localtime, "TZif2");
    expect(getToday(localtime).timezone).toBe(asked());
  });

  it("is that of TZ where this is set", () => {
    symlinkSync("/usr/share/zoneinfo/Europe/Berlin", localtime);
    process.env.TZ = "Asia/Tokyo";
    expect(getToday(localtime).timezone).toBe("Asia/Tokyo");
  });
});
