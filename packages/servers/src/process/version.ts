/** The version of the packages; they are released together. A test compares it with package.json. */
export const VERSION = "0.1.0";
