import { describe, expect, it } from "vitest";
import { MAX_REDACT_DEPTH } from "../src/limits.js";
import { redact, redactWords } from "../src/redact.js";

const SECRET = "hunter2hunter2";

const COMMANDS = [
  `curl -u me:${SECRET} https://x`,
  `curl -sSu me:${SECRET} x`,
  `curl -ume:${SECRET} x`,
  `curl --user me:${SECRET} x`,
  `curl --user=me:${SECRET} x`,
  `sudo curl -s -u "me:${SECRET}" x | jq .`,
  `mysql -u root -p${SECRET} db`,
  `mysql -p ${SECRET}`,
  `mysqldump --password=${SECRET} x`,
  `sshpass -p ${SECRET} ssh h`,
  `sshpass -p'${SECRET}' ssh h`,
  `git clone https://${SECRET}@github.com/x/y`,
  `git clone https://x:${SECRET}@h/y.git`,
  `git remote set-url origin https://oauth2:${SECRET}@h/y`,
  `curl -H "Authorization: Bearer ${SECRET}" x`,
  `curl -H 'authorization: token ${SECRET}' x`,
  `curl -H 'X-Api-Key: ${SECRET}' x`,
  `AWS_SECRET_ACCESS_KEY=${SECRET} aws s3 ls`,
  `export MYSQL_PWD=${SECRET}; mysql`,
  `PGPASSWORD=${SECRET} psql`,
  `DB_PASS=${SECRET} x`,
  `docker login -u me -p ${SECRET} reg`,
  `docker login --password ${SECRET}`,
  `snowsql --pwd ${SECRET}`,
  `x --pat ${SECRET} --pin ${SECRET}`,
  `mosquitto_pub -t a -P ${SECRET}`,
  `cypher-shell -p ${SECRET}`,
  `rabbitmqctl add_user me ${SECRET}`,
  `bw unlock ${SECRET}`,
  `net use x ${SECRET}`,
  `glab auth login -t ${SECRET}`,
  `redis-cli -a ${SECRET} ping`,
  `redis-cli -u redis://:${SECRET}@h`,
  `mongosh -u me -p ${SECRET}`,
  `mongodump --uri mongodb+srv://u:${SECRET}@h/db`,
  `psql postgres://u:${SECRET}@h/db`,
  `zip -P ${SECRET} a.zip b`,
  `7z x -p${SECRET} a.7z`,
  `openssl enc -aes-256-cbc -pass pass:${SECRET} -in x`,
  `openssl rsa -passin pass:${SECRET}`,
  `openssl enc -k ${SECRET}`,
  `ssh-keygen -t ed25519 -N ${SECRET} -f k`,
  `keytool -storepass ${SECRET}`,
  `ldapsearch -x -w ${SECRET} -D cn`,
  `smbclient -U me%${SECRET} //h/s`,
  `htpasswd -b f me ${SECRET}`,
  `htpasswd -nbB me ${SECRET}`,
  `aws configure set aws_secret_access_key ${SECRET}`,
  `npm config set //r/:_authToken ${SECRET}`,
  `npm config set //r/:_authToken=${SECRET}`,
  `vault login ${SECRET}`,
  `cargo login ${SECRET}`,
  `ngrok config add-authtoken ${SECRET}`,
  `gh secret set X --body ${SECRET}`,
  `gh secret set X -b${SECRET}`,
  `kubectl create secret generic x --from-literal=pw=${SECRET}`,
  `kubectl create secret generic x --from-literal pw=${SECRET}`,
  `az login -u me -p ${SECRET}`,
  `sqlcmd -S h -U sa -P ${SECRET}`,
  `sqlplus me/${SECRET}@db`,
  `twine upload -u me -p ${SECRET} d/*`,
  `http -a me:${SECRET} GET x`,
  `bash -c "curl -u me:${SECRET} x"`,
  `bash -c 'mysql -p${SECRET}; ls'`,
  `ssh h 'mysql -p${SECRET} -e "select 1"'`,
  `x "Server=h;Uid=u;Pwd=${SECRET};"`,
  `curl "https://h/?access_token=${SECRET}&a=b"`,
  `curl 'https://h/?a=b&sig=${SECRET}'`,
  `curl -d '{"password":"${SECRET}"}' x`,
  `curl -d 'user=a&password=${SECRET}' x`,
  `gpg --passphrase ${SECRET} -c f`,
  `gpg --batch --passphrase='${SECRET}' -c f`,
  `nmcli dev wifi connect S password ${SECRET}`,
  `useradd -p ${SECRET} bob`,
  `lftp -u me,${SECRET} h`,
  `snmpwalk -v2c -c ${SECRET} h`,
  `fly secrets set A=${SECRET}`,
  `heroku config:set API_KEY=${SECRET}`,
  `dotnet user-secrets set K ${SECRET}`,
  `skopeo copy --src-creds me:${SECRET} a b`,
  `xfreerdp /u:me /p:${SECRET} /v:h`,
  `(cd x && curl -u me:${SECRET} y)`,
  `x=$(curl -u me:${SECRET} y)`,
  `\`curl -u me:${SECRET} y\``,
  `time env A=1 curl -u me:${SECRET} y`,
  `/usr/bin/curl -u me:${SECRET} y`,
  `curl \\\n  -u me:${SECRET} \\\n y`,
  `curl -b 'session=${SECRET}' y`,
  `wget --user=me --password=${SECRET} y`,
  `wget --http-password ${SECRET} y`,
  `ftp ftp://me:${SECRET}@h`,
  `npx x --api-key ${SECRET}`,
  `x --auth-token=${SECRET}`,
  `x -token ${SECRET}`,
  `terraform apply -var db_password=${SECRET}`,
  `poetry config pypi-token.pypi ${SECRET}`,
  `poetry publish -u __token__ --password ${SECRET}`,
  `docker run -e POSTGRES_PASSWORD=${SECRET} pg`,
  `doctl auth init -t ${SECRET}`,
  `ipmitool -H h -U u -P ${SECRET} x`,
  `curl --oauth2-bearer ${SECRET} y`,
  `curl --proxy-user a:${SECRET} y`,
  `curl -x http://a:${SECRET}@p y`,
  `rsync rsync://u:${SECRET}@h/x`,
  `curl -E cert:${SECRET} y`,
  `mysqladmin -u root password ${SECRET}`,
  `echo ${SECRET} | sudo -S ls`,
  `echo '${SECRET}' | docker login --password-stdin`,
  `echo "u:${SECRET}" | chpasswd`,
  `kinit u <<< ${SECRET}`,
  `read -r PASSWORD <<< ${SECRET}`,
  `openssl passwd -1 ${SECRET}`,
  `qpdf --encrypt ${SECRET} ${SECRET} 256 -- a b`,
  `aws ssm put-parameter --name x --value ${SECRET} --type SecureString`,
  `az keyvault secret set --vault-name v --name n --value ${SECRET}`,
  `poetry publish -u u -p ${SECRET}`,
  `poetry config http-basic.x u ${SECRET}`,
  `bundle config gems.example.com u:${SECRET}`,
  `dotnet nuget push x -k ${SECRET}`,
  `nuget setapikey ${SECRET}`,
  `cloudflared service install ${SECRET}`,
  `snyk auth ${SECRET}`,
  `mvn verify -Dsonar.login=${SECRET}`,
  `security unlock-keychain -p ${SECRET} k`,
  `mkpasswd -m sha-512 ${SECRET}`,
  `nmcli con mod x wifi-sec.psk ${SECRET}`,
  `etcdctl --user root:${SECRET} get x`,
  `mc alias set x http://h AK ${SECRET}`,
  `rclone obscure ${SECRET}`,
  `ansible-vault encrypt_string ${SECRET}`,
  `xcrun altool -p ${SECRET} -u a`,
  `redis-cli auth u ${SECRET}`,
  `psql -c "ALTER USER a PASSWORD '${SECRET}'"`,
  `mysql -e "CREATE USER a IDENTIFIED BY '${SECRET}'"`,
  `mongosh --eval 'db.createUser({user:"a",pwd:"${SECRET}"})'`,
];

describe("text that looks like a secret", () => {
  it.each(COMMANDS)("is not shown: %s", (command) => {
    expect(redact(command)).not.toContain(SECRET);
    expect(redactWords(["/bin/bash", "-lc", command]).join(" ")).not.toContain(SECRET);
  });

  it(`is found in nested scripts, ${MAX_REDACT_DEPTH} deep`, () => {
    const inner = `curl -u me:${SECRET} x`;
    const nest = (levels: number): string =>
      levels === 0 ? inner : `sh -c ${levels % 2 === 0 ? `"${nest(levels - 1)}"` : `'${nest(levels - 1)}'`}`;
    for (let levels = 0; levels <= 2; levels += 1) expect(redact(nest(levels))).not.toContain(SECRET);
    expect(redact(nest(1), 0)).toContain(SECRET);
    expect(MAX_REDACT_DEPTH).toBe(3);
  });

  it("is hidden in an argv", () => {
    expect(redactWords(["curl", "-u", `me:${SECRET}`, "https://h/"])).toEqual(["curl", "-u", "<hidden>", "https://h/"]);
    expect(redactWords(["mysql", "-uroot", `-p${SECRET}`, "db"])).toEqual(["mysql", "-uroot", "-p<hidden>", "db"]);
    expect(redactWords(["x", "--password", SECRET])).toEqual(["x", "--password", "<hidden>"]);
    expect(redactWords(["git", "clone", `https://${SECRET}@h/y`])).toEqual(["git", "clone", "https://<hidden>@h/y"]);
  });

  it.each([
    ...["ls -la /tmp", "git push origin main", "docker run -p 80:80 nginx", "grep -rn password src", "make -j4 test"],
    ...["git clone git@github.com:x/y", "git clone ssh://git@github.com/x/y", "psql -p 5432 -U me db", "PWD=/x ls"],
    ...["cat token.txt", "npm run build -- --watch", "ssh -p 22 me@h ls", "cp -p a b", "python -m pytest -k 'a and b'"],
    ...["git config user.name bob", "git add keys.ts", "npm test && node -p 1+1", "echo 'it is -p x' | rg -u x"],
    ...[
      "grep password 'a b'",
      "echo a | sudo tee f",
      "ls | sudo -u x cat",
      "aws s3 ls",
      "az group list",
      "sort -k 2 f",
    ],
  ])("is not %s", (command) => expect(redact(command)).toBe(command));

  it.each([
    ...[
      "sk-ant-abcdefghijkl",
      "glpat-abcdefghijkl",
      "hf_abcdefghijklmnop",
      "AIzaSyAbcdefghijklmnop",
      "hvs.abcdefghijklmnop",
    ],
    ...["SG.abcdefghijk.lmnopqrstuv", "dckr_pat_abcdefghijkl", "pypi-AgEIcHlwaS5vcmcabc", "xoxb-123456789012-abcdef"],
    ...["github_pat_11AAAAAAAAAAAA", "ya29.a0AfH6SMBabcdefgh", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def_ghi"],
  ])("is recognized by its form: %s", (token) => expect(redact(`x '${token}' y`)).toBe("x '<hidden>' y"));
});
