/** The name by which programs are looked up: without directory, in lower case, without `.exe` and a login shell's dash. */
export function lookupName(program: string): string {
  const name = program.slice(Math.max(program.lastIndexOf("/"), program.lastIndexOf("\\")) + 1).toLowerCase();
  return name.replace(/^-(?=.)/, "").replace(/\.exe$/, "");
}

/** The same without the parts that distinguish installations: `bash5`, `bash-5.2`, `bash-static`, `sh.distrib`. */
export function plainName(program: string): string {
  const name = lookupName(program);
  return name.length > MAX_NAME ? name : name.replace(INSTALLATION, "");
}

/** Longest name of a file, in UTF-16 units: no program has a longer one. */
const MAX_NAME = 255;

/** The lookahead keeps what it has matched: trying each part of a number again would take exponential time. */
const INSTALLATION =
  /(?:[-.](?:static|distrib|real|orig|bin|restricted|stable|preview|beta)|(?=([-_.]?\d+(?:\.+\d+)*))\1)+\.*$/;
