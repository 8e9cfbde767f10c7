/** A program that is run directly and through us; both must come to the same. */
export interface OracleScript {
  /** For `/bin/sh -c`, or for `/bin/bash -c` with `bash`. */
  script: string;
  shell: "sh" | "bash";
  /** Written to its stdin, which is then closed; undefined: no stdin. */
  input?: string;
  /** On a terminal of 24 rows and 80 columns. */
  tty: boolean;
  /** What is typed, each once the text before it was seen in the output. */
  steps?: readonly (readonly [seen: string, type: string])[];
  /** Compare the screen at the end instead of the bytes: programs that draw may draw in another order. */
  screen?: boolean;
  /** A program without which it is skipped. */
  needs?: string;
}
