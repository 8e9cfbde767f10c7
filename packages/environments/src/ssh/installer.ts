/**
 * A script for `node -e` on the remote side: reports the kind of host, receives a packed bundle on stdin, checks it, writes it under
 * another name, renames it, and becomes the bridge to the server. It reports in lines of a mark, a word and JSON. It contains no
 * single quotes.
 */
export const INSTALLER = `
const fs = require("node:fs"), path = require("node:path");
const [dir, mark] = process.argv.slice(1);
const say = (word, about) => fs.writeSync(1, "\\n" + mark + " " + word + " " + JSON.stringify(about) + "\\n");
const nap = new Int32Array(new SharedArrayBuffer(4));
const take = (size) => {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    let got;
    try { got = fs.readSync(0, bytes, at, size - at, null); }
    catch (error) { if (error.code !== "EAGAIN") throw error; Atomics.wait(nap, 0, 0, 5); continue; }
    if (got === 0) throw new Error("the connection ended after " + at + " of " + size + " bytes");
    at += got;
  }
  return bytes;
};
const takeLine = () => {
  let line = "";
  for (;;) {
    const byte = take(1).toString("latin1");
    if (byte === "\\n") return line;
    if ((line += byte).length > 4096) throw new Error("the head of the bundle is too long");
  }
};
const ownDirectory = (place) => {
  fs.mkdirSync(place, { recursive: true, mode: 0o700 });
  const status = fs.lstatSync(place);
  const isSafe = status.isDirectory() && status.uid === process.getuid() && (status.mode & 0o022) === 0;
  if (!isSafe) throw new Error(place + " is not a directory that only you may write");
};
const write = (file, bytes) => {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fd = fs.openSync(file, "wx", 0o600);
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
  fs.fsyncSync(fd);
  fs.closeSync(fd);
};
const unpack = (body, place) => {
  const all = require("node:zlib").gunzipSync(body, { maxOutputLength: 268435456 });
  let at = 4 + all.readUInt32BE(0);
  for (const file of JSON.parse(all.toString("utf8", 4, at))) {
    write(path.join(place, file.path), all.subarray(at, at + file.bytes));
    at += file.bytes;
  }
  write(path.join(place, "node"), Buffer.from(process.execPath + "\\n"));
};
const removeOld = (above) => {
  for (const name of fs.readdirSync(above)) {
    const place = path.join(above, name);
    const days = /\\.(tmp|old)-/.test(name) ? 1 : 30;
    try {
      const stamp = fs.existsSync(place + "/used") ? place + "/used" : place;
      if (Date.now() - fs.statSync(stamp).mtimeMs > days * 86400000) fs.rmSync(place, { recursive: true, force: true });
    } catch {}
  }
};
const libc = () => {
  if (process.platform !== "linux") return "other";
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl";
};
const temp = dir + ".tmp-" + process.pid;
try {
  say("missing", { platform: process.platform, arch: process.arch, libc: libc(), node: process.versions.node });
  const { bytes, sha256 } = JSON.parse(takeLine());
  if (!(bytes > 0 && bytes <= 67108864)) throw new Error("a bundle of " + bytes + " bytes");
  const body = take(bytes);
  const found = require("node:crypto").createHash("sha256").update(body).digest("hex");
  if (found !== sha256) throw new Error("the checksum of what arrived is wrong: " + found + " instead of " + sha256);
  ownDirectory(path.dirname(dir));
  unpack(body, temp);
  const isWhole = () => ["/codex.js", "/node"].every((name) => fs.existsSync(dir + name));
  if (!isWhole() && fs.existsSync(dir)) {
    const old = dir + ".old-" + process.pid;
    fs.renameSync(dir, old);
    fs.rmSync(old, { recursive: true, force: true });
  }
  try { if (!isWhole()) fs.renameSync(temp, dir); }
  catch (error) { if (!isWhole()) throw error; }
  fs.rmSync(temp, { recursive: true, force: true });
  removeOld(path.dirname(dir));
  say("installed", {});
} catch (error) {
  try { fs.rmSync(temp, { recursive: true, force: true }); } catch {}
  say("failed", { reason: error.message, code: error.code });
  process.exit(93);
}
process.argv = [process.execPath, dir + "/codex.js", "exec-server", "--attach"];
require(dir + "/codex.js");
`;
