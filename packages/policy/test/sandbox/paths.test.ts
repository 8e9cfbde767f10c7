import { expect, it } from "vitest";
import { isWithinPattern } from "../../src/sandbox/paths.js";

it.each([
  ["/h/.ssh/id_rsa", "/h/.ssh/id_*", true],
  ["/h/.ssh/id_rsa/x", "/h/.ssh/id_*", true],
  ["/h/.ssh/sub/id_rsa", "/h/.ssh/*", true],
  ["/h/.ssh/known", "/h/.ssh/id_*", false],
  ["/h/xssh/id_rsa", "/h/.ssh/id_*", false],
  ["/a/b/c.pem", "/a/**/*.pem", true],
  ["/a/c.pem", "/a/**/*.pem", true],
  ["/a/c.pem.txt", "/a/**/*.pem", false],
  ["/a/x1", "/a/x[0-9]", true],
  ["/a/xb", "/a/x[!0-9]", true],
  ["/a/x1", "/a/x[!0-9]", false],
  ["/a/(b", "/a/(b", true],
  ["/a/bc", "/a/b?", true],
  ["/a/b/", "/a/b?", false],
  ["/a/]a", "/a/[]]a", true],
  ["/a/b", "/a/[z-a]", true],
  ["/a/b", "/a/{b,c}", true],
  ["/a/b/c", "/a/**", true],
])("%s in pattern %s: %s", (path, pattern, expected) => {
  expect(isWithinPattern(path, pattern)).toBe(expected);
});
