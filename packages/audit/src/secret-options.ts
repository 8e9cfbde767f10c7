/** Options of programs whose value is or contains a secret. */
interface SecretOptions {
  programs: string;
  /** Applies only to commands that also have this word. */
  with?: RegExp;
  /** Letters of short options; the value is attached, or the next word. */
  short?: string;
  /** Names after one dash or two; the value follows `=` or `:`, or is the next word. */
  long?: string;
  /** Operands are secrets. */
  operands?: true;
}

const TABLE: readonly SecretOptions[] = [
  { programs: "curl", short: "uUEb", long: "user proxy-user oauth2-bearer cert proxy-cert cookie pass proxy-pass" },
  { programs: "wget wget2", long: "user proxy-user" },
  { programs: "http https xh xhs", short: "a" },
  { programs: "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlpump mysqlsh mycli", short: "p" },
  { programs: "mariadb mariadb-dump mariadb-admin mariadb-import mariadb-check", short: "p" },
  { programs: "mongo mongosh mongodump mongorestore mongoexport mongoimport mongostat mongotop", short: "p" },
  {
    programs: "sshpass cqlsh beeline influx rdesktop twine ncftp ncftpget ncftpput wlfreerdp useradd usermod",
    short: "p",
  },
  { programs: "impala-shell cypher-shell", short: "p" },
  { programs: "mosquitto_pub mosquitto_sub mosquitto_rr", short: "P", long: "pw" },
  { programs: "rabbitmqctl", with: /^(?:add_user|change_password|authenticate_user)$/, operands: true },
  { programs: "neo4j-admin", with: /^set-initial-password$/, operands: true },
  { programs: "bw", with: /^(?:unlock|login)$/, operands: true },
  { programs: "chpasswd", operands: true },
  { programs: "net", with: /^use$/i, operands: true },
  { programs: "glab", with: /^login$/, short: "t" },
  { programs: "gitlab-runner", with: /^register$/, short: "r" },
  { programs: "vercel", short: "t" },
  { programs: "redis-cli valkey-cli", short: "a", long: "pass" },
  { programs: "sqlcmd osql isql bcp tsql zip unzip zipcloak ipmitool", short: "P" },
  { programs: "7z 7za 7zr 7zz rar unrar", short: "p" },
  { programs: "ldapsearch ldapadd ldapmodify ldapdelete ldappasswd ldapwhoami ldapcompare", short: "was" },
  { programs: "smbclient rpcclient smbget net smbpasswd smbmap", short: "U", long: "user" },
  { programs: "lftp", short: "u", long: "user" },
  { programs: "docker podman nerdctl helm oras buildah skopeo crane regctl", with: /^login$/, short: "pu" },
  { programs: "podman buildah skopeo", long: "creds src-creds dest-creds" },
  { programs: "az oc rosa", with: /^login$/, short: "p" },
  { programs: "poetry expo eas xcrun rabbitmqadmin youtube-dl yt-dlp psexec snowsql", short: "p" },
  { programs: "mssql-cli", short: "P" },
  { programs: "aws az", with: /^(?:put-parameter|set|set-secret)$/, long: "value" },
  { programs: "llm", with: /^keys$/, long: "value" },
  { programs: "caddy", with: /^hash-password$/, long: "plaintext", short: "p" },
  { programs: "signtool schtasks", long: "p rp" },
  { programs: "etcdctl", long: "user password" },
  { programs: "dotnet nuget choco", with: /^push$/, short: "k", long: "key" },
  { programs: "openai", short: "k" },
  { programs: "codecov slack-cli rancher", short: "t" },
  { programs: "npm", long: "otp" },
  { programs: "mysqladmin", with: /^password$/, operands: true },
  { programs: "openssl", with: /^passwd$/, operands: true },
  { programs: "qpdf", with: /^--encrypt$/, operands: true },
  { programs: "pdftk", with: /^(?:input_pw|owner_pw|user_pw)$/, operands: true },
  { programs: "gcloud", with: /^activate-refresh-token$/, operands: true },
  { programs: "poetry composer", with: /^(?:http-basic|bearer|pypi-token|\w+-oauth)\./, operands: true },
  { programs: "bundle bundler", with: /^config$/, operands: true },
  { programs: "nuget", with: /^setapikey$/i, operands: true },
  { programs: "cloudflared", with: /^install$/, operands: true },
  { programs: "twilio", with: /^login$/, operands: true },
  { programs: "snyk", with: /^auth$/, operands: true },
  { programs: "mc", with: /^(?:alias|set)$/, operands: true },
  { programs: "rclone", with: /^obscure$/, operands: true },
  { programs: "ansible-vault", with: /^encrypt_string$/, operands: true },
  { programs: "redis-cli valkey-cli", with: /^auth$/i, operands: true },
  { programs: "nmcli", with: /psk$|password$|secret$/, operands: true },
  { programs: "iwconfig", with: /^key$/, operands: true },
  { programs: "openssl", short: "kK", long: "pass passin passout k K macopt" },
  { programs: "ssh-keygen", short: "NP" },
  { programs: "keytool jarsigner", long: "storepass keypass srcstorepass deststorepass srckeypass destkeypass" },
  { programs: "snmpwalk snmpget snmpset snmpbulkwalk snmptable snmptrap", short: "cAX" },
  { programs: "xfreerdp xfreerdp3 wlfreerdp", long: "p" },
  { programs: "vncdo vncdotool irssi", short: "pw" },
  { programs: "radtest convertto-securestring", operands: true },
  { programs: "virsh", with: /^secret-set-value$/, operands: true },
  { programs: "samba-tool", with: /^(?:create|add|newuser|setpassword)$/, operands: true },
  { programs: "wbinfo", short: "a" },
  { programs: "shodan", with: /^init$/, operands: true },
  { programs: "reg", with: /password$/i, long: "d" },
  { programs: "dscl", with: /^-passwd$/i, operands: true },
  { programs: "networksetup", with: /^-setairportnetwork$/i, operands: true },
  { programs: "wpa_cli", with: /^(?:psk|password|sae_password)$/, operands: true },
  { programs: "gh", with: /^secret$/, short: "b", long: "body" },
  { programs: "kubectl oc", with: /^secret$/, long: "from-literal docker-password" },
  { programs: "security", with: /-password$|-keychain$/, short: "wp" },
  { programs: "gpg gpg2", long: "passphrase" },
  { programs: "doctl", with: /^auth$/, short: "t" },
  { programs: "htpasswd", with: /^-[a-zA-Z]*b/, operands: true },
  {
    programs: "cargo vault ngrok gem hf huggingface-cli wandb",
    with: /^(?:login|authtoken|add-authtoken)$/,
    operands: true,
  },
  { programs: "mkpasswd setx wpa_passphrase expdp impdp sqlplus rman sqlldr", operands: true },
  { programs: "fly flyctl wrangler vercel supabase netlify", with: /^(?:secrets?|env)$/, operands: true },
  { programs: "dotnet", with: /^user-secrets$/, operands: true },
  {
    programs:
      "crackmapexec nxc netexec evil-winrm hydra medusa ncrack patator racadm ilorest esxcli mutool msoffcrypto-tool steghide couchbase-cli cbq confluence veracrypt elasticsearch-users",
    short: "p",
  },
  { programs: "secretsdump.py psexec.py wmiexec.py smbexec.py getuserspns.py", operands: true },
  { programs: "impacket-psexec impacket-secretsdump impacket-wmiexec impacket-smbexec", operands: true },
  { programs: "influx frpc anaconda gotify drone chromatic", short: "t" },
  { programs: "uv", with: /^publish$/, short: "tp" },
  { programs: "hatch", with: /^publish$/, short: "a" },
  { programs: "k6", with: /^login$/, short: "t" },
  { programs: "ss-local ss-server ss-redir sslocal ssserver shadowsocks sauce saucectl", short: "k" },
  { programs: "ibmcloud nuget", with: /^(?:login|add)$/, short: "p", long: "password" },
  { programs: "dotnet", with: /^nuget$/, short: "p" },
  { programs: "kadmin squidclient", short: "wW" },
  { programs: "p4 gobuster gpg-preset-passphrase", short: "P" },
  { programs: "winrs", long: "p" },
  { programs: "govc", short: "u", long: "u" },
  { programs: "transmission-remote", short: "n" },
  { programs: "ttyd gotty", short: "c", long: "credential" },
  { programs: "ntfy", short: "u", long: "user" },
  { programs: "nikto", long: "id" },
  { programs: "pushover", short: "tu" },
  { programs: "sendemail", long: "xp" },
  { programs: "swaks", long: "ap auth-password" },
  { programs: "lego", long: "hmac" },
  { programs: "pdftotext pdftoppm pdfimages pdfinfo pdfseparate pdftohtml pdftops pdfunite", long: "upw opw" },
  { programs: "kaggle", with: /^config$/, short: "v" },
  { programs: "gh glab", with: /^variable$/, short: "bv", long: "body value", operands: true },
  { programs: "act", short: "s", long: "secret" },
  { programs: "gocryptfs", long: "extpass" },
  { programs: "mosquitto_passwd", with: /^-[a-zA-Z]*b/, operands: true },
  { programs: "net", with: /^user$/i, operands: true },
  { programs: "consul", with: /^put$/, operands: true },
  { programs: "pulumi", with: /^--secret$/, operands: true },
  { programs: "heroku netlify", with: /^(?:config|env):set$/, operands: true },
  { programs: "doppler infisical phase", with: /^secrets$/, operands: true },
  { programs: "dotenvx teller chamber credstash berglas", with: /^(?:set|put|write|create|update)$/, operands: true },
  { programs: "b2", with: /^authorize(?:-account)?$/, operands: true },
  { programs: "travis", with: /^encrypt$/, operands: true },
  { programs: "zerotier-cli", with: /^join$/, operands: true },
  { programs: "drush", with: /^(?:user:password|upwd)$/, operands: true },
  { programs: "grafana-cli grafana", with: /^reset-admin-password$/, operands: true },
  { programs: "filebrowser", with: /^users$/, operands: true },
  { programs: "syncthing", with: /^password$/, operands: true },
  { programs: "isql ecryptfs-add-passphrase apprise", operands: true },
];

/** Most of the many commands of a long script are none of these. */
const BY_PROGRAM = new Map<string, SecretOptions[]>();
for (const table of TABLE) {
  for (const program of table.programs.split(" ")) BY_PROGRAM.set(program, [...(BY_PROGRAM.get(program) ?? []), table]);
}

/** The secret part of a word: its end from an index on, or the whole next word. */
export type SecretPart = { kind: "from"; at: number } | { kind: "next" };

/** Finds the words of one command that contain secrets, by the options before them. */
export function findSecretParts(words: readonly string[]): ReadonlyMap<number, SecretPart> {
  const names = new Set(words.map((word) => (word.split("/").pop() ?? "").toLowerCase()));
  const parts = new Map<number, SecretPart>();
  const named = new Set([...names].flatMap((name) => BY_PROGRAM.get(name) ?? []));
  if (named.size === 0) return parts;
  const tables = TABLE.filter(
    (table) => named.has(table) && (table.with === undefined || words.some((word) => table.with!.test(word))),
  );
  for (const table of tables) {
    for (const [at, word] of words.entries()) {
      const part = findPart(word, table);
      if (part !== undefined) parts.set(at, part);
    }
    if (table.operands) for (const at of listOperands(words, table)) parts.set(at, { kind: "from", at: 0 });
  }
  return parts;
}

function findPart(word: string, { short = "", long = "" }: SecretOptions): SecretPart | undefined {
  const named = /^(?:--?|\/)([\w-]+)([=:]|$)/.exec(word);
  if (named !== null && long.split(" ").includes(named[1] ?? "")) return toPart(word, named[0].length);
  if (!/^-[^-]/.test(word)) return undefined;
  const at = [...word].findIndex((letter, index) => index > 0 && short.includes(letter));
  return at === -1 ? undefined : toPart(word, at + (word[at + 1] === "=" ? 2 : 1));
}

/** The value starts at this index, or is the next word if this one ends here. */
const toPart = (word: string, at: number): SecretPart => (at < word.length ? { kind: "from", at } : { kind: "next" });

/** Indices of the operands after the program, or after the word of `with`. */
function listOperands(words: readonly string[], { programs, with: other }: SecretOptions): number[] {
  const names = programs.split(" ");
  const start = words.findIndex((word) =>
    other === undefined ? names.includes((word.split("/").pop() ?? "").toLowerCase()) : other.test(word),
  );
  return words.flatMap((word, at) => (at > start && !word.startsWith("-") ? [at] : []));
}
