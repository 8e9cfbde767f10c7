/** A parsed patch. */
export interface Patch {
  /** From `*** Environment ID: …`. */
  environmentId?: string;
  operations: readonly Operation[];
}

/** An operation on one file. `line`: line number of its header, from 1. */
export type Operation = AddFile | DeleteFile | UpdateFile;

/** Creates a file, or replaces its content. */
export interface AddFile {
  kind: "add";
  /** As in the patch, trimmed. */
  path: string;
  line: number;
  /** Without line ends; each gets a newline. */
  lines: readonly string[];
}

/** Removes a file. */
export interface DeleteFile {
  kind: "delete";
  path: string;
  line: number;
}

/** Changes a file, moves it, or both. */
export interface UpdateFile {
  kind: "update";
  path: string;
  line: number;
  /** New path of the file. */
  moveTo?: string;
  /** Empty for a move without changes. */
  chunks: readonly Chunk[];
}

/** Consecutive lines of a file, with their changes. */
export interface Chunk {
  /** Line number in the patch, from 1. */
  line: number;
  /** A complete line of the file that precedes the chunk. */
  header?: string;
  lines: readonly ChunkLine[];
  /** The chunk is at the end of the file. */
  isAtEnd: boolean;
}

/** A line of a chunk, without line end. */
export interface ChunkLine {
  kind: "context" | "add" | "remove";
  text: string;
}

/** Why a patch cannot be parsed or applied, in words that let the model correct it. */
export interface PatchProblem {
  message: string;
  /** Line of the patch, from 1. */
  line?: number;
  /** Path as in the patch. */
  path?: string;
}

/** Thrown by parser and matcher with a PatchProblem. */
export class PatchError extends Error {
  readonly problem: PatchProblem;

  constructor(problem: PatchProblem) {
    super(problem.message);
    this.name = "PatchError";
    this.problem = problem;
  }
}
