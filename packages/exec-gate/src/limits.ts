/** Rules of one gate. */
export const MAX_GATE_RULES = 4096;
/** Programs of one gate that were approved with their command. */
export const MAX_APPROVED_PROGRAMS = 256;
/** Characters of all words of the rules of one gate. */
export const MAX_GATE_CHARACTERS = 256 * 1024;
/** Characters of all words of the programs that were approved with a command. */
export const MAX_APPROVED_CHARACTERS = 64 * 1024;
/** Words of a program that are judged; what follows is not compared with any rule. */
export const MAX_JUDGED_WORDS = 4096;
