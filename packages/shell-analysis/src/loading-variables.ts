/** What a variable of the environment means for the programs that see it. */
export type Loading =
  /** They run, or load, something that has not been analyzed. */
  | "unseen"
  /** They may take code or settings from files in places of their choice. */
  | "places";

/** Variables that name a file or directory with code, or with settings that can name programs, and that are seldom set in a command. */
const UNSEEN = new RegExp(
  `^(?:${[
    "GIT_(?:CONFIG(?:_GLOBAL|_SYSTEM|_PARAMETERS)?|EXEC_PATH|TEMPLATE_DIR)|BASH_ENV|PIP_CONFIG_FILE|APT_CONFIG|DPKG_(?:HOOK|DEB)\\w*",
    "LD_(?:PRELOAD|AUDIT)|DYLD_(?:INSERT_LIBRARIES|FRAMEWORK_PATH)|GCONV_PATH|LOCPATH|GTK_(?:MODULES|PATH)|QT_PLUGIN_PATH|GIO_(?=\\w*MODULE)\\w*",
    "OPENSSL_(?:CONF|ENGINES|MODULES)|SSH_SK_(?:PROVIDER|HELPER)|SSH_PKCS11_HELPER|KRB5_CONFIG|ODBC\\w*INI",
    "PYTHON(?:STARTUP|HOME|BREAKPOINT|USERBASE|PYCACHEPREFIX)|PERL5DB|LUA_INIT\\w*|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON)\\w*|JULIA_LOAD_PATH",
    "EMACSLOADPATH|VIM|VIMRUNTIME|MYVIMRC|\\w*_?(?:WGET|PSQL|INPUT|SCREEN|MAILR|NETR|LESSKEY)(?:RC|IN)?|LESSKEY\\w*|CURL_HOME|MAKEFILES|TCLLIBPATH",
    "RIPGREP_CONFIG_PATH|NPM_CONFIG_(?:USER|GLOBAL)CONFIG|YARN_RC_FILENAME|JAVA_OPTIONS_FILE|TERMINFO_PRELOAD",
  ].join("|")})$`,
  "i",
);

/** Variables whose options load code when they look like this; other values are everyday. */
const LOADING_OPTIONS: readonly { names: RegExp; options: RegExp }[] = [
  {
    names: /^(?:npm_config_)?node_options$/i,
    options:
      /(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader|--openssl-config|--experimental-config-file|--env-file)[\s=]*["']?(?:[./~$]|file:|data:)/,
  },
  { names: /^RUBYOPT$/, options: /(?:^|\s)-[a-zA-Z]*(?:I|r\s*["']?[./~$])/ },
  { names: /^(?:PERL5OPT|HARNESS_PERL_SWITCHES)$/, options: /^(?!\s*(?:-[wWTt]+)*(?:-MDevel::Cover\S*)?(?<!\s)\s*$)/ },
  {
    names:
      /^(?:JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|\w*JAVA_OPTS|\w*(?:MAVEN|MVN|GRADLE|SBT|ANT|CATALINA)_OPTS)$/,
    options:
      /-javaagent:|-agent(?:lib:(?!jdwp\b|hprof\b)|path:)|-XX:(?:On\w+|Flags|VMOptionsFile)=|-Xbootclasspath|(?:^|\s)@/,
  },
  { names: /^(?:ENV|ZDOTDIR)$/, options: /[./~$]/ },
  {
    names: /^GIT_(?:DIR|COMMON_DIR)$/,
    options: /^(?![^\n]*(?:^|\/)[\w.-]*\.git\/?$|^(?:~|\$\{?HOME\}?|\/root|\/(?:home|Users)\/[^/]+)?\/\.[\w-]+\/?$)/,
  },
  { names: /^GIT_ALLOW_PROTOCOL$/, options: /\bext\b/ },
  { names: /^PYTHONWARNINGS$/, options: /:[\w.]*\./ },
];

/** Search paths of languages and loaders, homes, and settings of any program. */
const PLACES =
  /^(?:PYTHONPATH|PERL5?LIB|RUBYLIB|NODE_PATH|CLASSPATH|LUA_C?PATH\w*|(?:LD|DYLD)_\w*PATH|GEM_(?:HOME|PATH)|R_LIBS\w*|GUILE_\w+PATH|HOME|XDG_\w+|BUNDLE_GEMFILE|GIT_\w+|\w*_?(?:CONFIG|CONF|SETTINGS|PROFILE|RC|HOME)(?:_?(?:FILE|FILENAME|PATH|DIR|HOME))?|PATH|\w+_(?:LIB|LIBEXEC|BIN|BINDIR|DIR|ROOT|PREFIX|PLUGINS?|MODULES?|EXTENSIONS?|PATH)|\w+OPTS?|\w+OPTIONS|\w+FLAGS)$/i;

/** How a variable with this value makes a program run something that is not in the command; undefined if it does not. */
export function classifyVariable(name: string, value: string): Loading | undefined {
  if (value === "" || value === "/dev/null" || value === "false" || value === "0") return undefined;
  if (UNSEEN.test(name)) return "unseen";
  if (LOADING_OPTIONS.some(({ names, options }) => names.test(name) && options.test(value))) return "unseen";
  return PLACES.test(name) ? "places" : undefined;
}

/** Builtins whose arguments are assignments to variables. */
export const VARIABLE_BUILTINS = /^(?:export|readonly|local|declare|typeset|set|setenv)$/;

/** The assignments in an argument: `NAME=value`, `-ENAME=value`, `--setenv=NAME=value`. */
export function listAssignments(arg: string): [name: string, value: string][] {
  const found: [string, string][] = [];
  const lineEnd = arg.search(/[\n\r]/);
  let from = 0;
  for (let at = arg.indexOf("="); at !== -1 && found.length < 3; at = arg.indexOf("=", at + 1)) {
    const start = from;
    const before = arg.slice(start, at);
    from = at + 1;
    if (lineEnd !== -1 && lineEnd < start) break;
    const name = readLastName(before);
    if (
      name === undefined ||
      !(start === 0 ? /^(?:|-[A-Za-z]?|-[A-Za-z]\w*)$/ : /^$/).test(before.slice(0, -name.length))
    )
      continue;
    const value = arg.slice(at + 1);
    found.push([name, value]);
    // The letter of an option is directly before the name.
    if (start === 0 && /^-[A-Za-z]\w+$/.test(before)) found.push([name.slice(1), value]);
  }
  return found;
}

/** The name that ends the text, in one pass: a search by expression takes quadratic time in a long word. */
function readLastName(text: string): string | undefined {
  const exported = text.endsWith("%%") ? text.slice(Math.max(0, text.indexOf("BASH_FUNC_"))) : "";
  if (/^BASH_FUNC_[^\s=]+%%$/.test(exported)) return exported;
  let from = text.length;
  while (from > 0 && /\w/.test(text[from - 1] ?? "")) from -= 1;
  const name = text.slice(from).replace(/^\d+/, "");
  return name === "" ? undefined : name;
}
