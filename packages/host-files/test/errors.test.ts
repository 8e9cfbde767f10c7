import { RpcError } from "@codex/channel";
import { expect, it } from "vitest";
import { toRpcError } from "../src/errors.js";

const system = (code: string) => Object.assign(new Error(code), { code });

it.each([
  ["ENOENT", -32004, "No such file or directory"],
  ["EACCES", -32600, "Permission denied"],
  ["EPERM", -32600, "Operation not permitted"],
  ["EINVAL", -32600, "Invalid argument"],
  ["EISDIR", -32603, "Is a directory"],
  ["ENOTDIR", -32603, "Not a directory"],
  ["EEXIST", -32603, "File exists"],
  ["ENOTEMPTY", -32603, "Directory not empty"],
  ["EROFS", -32603, "Read-only file system"],
  ["ELOOP", -32603, "Symbolic link loop"],
  ["ENOSPC", -32603, "No space left on device"],
  ["ENOMEM", -32603, "not enough memory"],
])("%s has code %i", (name, code, text) => {
  const error = toRpcError(system(name), "/some/path");
  expect(error).toBeInstanceOf(RpcError);
  expect(error.code).toBe(code);
  expect(error.message).toMatch(new RegExp(`^${text} \\(os error \\d+\\): /some/path$`));
});

it("keeps an RpcError, and describes an error without errno", () => {
  const answer = new RpcError(-32600, "no");
  expect(toRpcError(answer, "/x")).toBe(answer);
  expect(toRpcError(new Error("odd"), "/x")).toMatchObject({ code: -32603, message: "odd: /x" });
  expect(toRpcError(system("ENOENT"), Buffer.from("/\xff", "latin1")).message).toBe(
    "No such file or directory (os error 2): /\ufffd",
  );
});
