import { describe, expect, it } from "vitest";
import { decodeGetMetadata, decodeReadDirectory, decodeReadFile } from "../src/fs.js";
import { decodePlainParams } from "../src/plain-params.js";

const path = "file:///a/b.txt";

describe("plain params decode as with the schema", () => {
  it.each([
    [{ path }, { path: "/a/b.txt", followSymlinks: true, extended: false }],
    [
      { path, sandbox: null, followSymlinks: null, extended: null },
      { path: "/a/b.txt", followSymlinks: true, extended: false },
    ],
    [
      { followSymlinks: false, extended: true, path },
      { path: "/a/b.txt", followSymlinks: false, extended: true },
    ],
  ])("%j", (params, decoded) => {
    expect(decodePlainParams(params, { followSymlinks: true, extended: false })).toEqual(decoded);
    // With an unknown member, the same params go through the schema.
    for (const sent of [params, { ...params, unknown: 1 }]) {
      expect(decodeGetMetadata(sent)).toEqual(decoded);
      expect(decodeReadFile(sent)).toEqual({ path: decoded.path, followSymlinks: decoded.followSymlinks });
      expect(decodeReadDirectory(sent)).toEqual({ path: decoded.path, extended: decoded.extended });
    }
  });
});

it.each<[unknown]>([
  [undefined],
  [null],
  ["text"],
  [[path]],
  [{}],
  [{ path: 1 }],
  [{ path: null }],
  [{ path: "/a" }],
  [{ path: "file:///a%20b" }],
  [{ path, followSymlinks: "true" }],
  [{ path, followSymlinks: 1 }],
  [{ path, sandbox: {} }],
  [{ path, sandbox: false }],
  [{ path, extended: true }],
  [{ path, constructor: true }],
  [JSON.parse(`{"path":"${path}","__proto__":true}`)],
])("leaves %j to the schema", (params) => {
  expect(decodePlainParams(params, { followSymlinks: true })).toBeUndefined();
});
