"""A corpus that was written before the rules it measures: secrets in fresh contexts, and lines that only look so.

`@@` is the slot. Each context says which shapes of value it takes: `w` one plain word, `p` a typed password, `r` a
value of a generator, `n` digits. Words and shapes are drawn per seed, so that no rule can know them.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator

from tests.helpers.secret_shapes import ALNUM, HEX, URL64, Case


def word_list(text: str) -> list[str]:
    """Return the words of a text in order."""
    return text.split()


WORDS = word_list("""
sunshine dragonfly thunder cupcake butterfly snowflake moonlight raspberry chocolate elephant kingfisher bluebird
peppermint pineapple marigold hedgehog lighthouse waterfall firefly starlight buttercup gingerbread tangerine porcupine
mandolin accordion trampoline umbrella wheelbarrow blackberry cinnamon dandelion evergreen fisherman gargoyle harmonica
juniper kangaroo labyrinth mushroom nightingale octopus pelican quicksilver rutabaga sandpiper tortoise unicorn
velociraptor woodpecker yesterday zeppelin barracuda chipmunk dolphin espresso flamingo grapefruit honeycomb iceberg
liverpool michelle jennifer superman basketball welcome letmein trustno batman football computer internet princess
sesame bonjour hallo geheim wachtwoord tequila mustang yamaha corvette metallica slipknot iloveyou mercedes
""")


def shapes(r: random.Random) -> dict[str, list[str]]:
    """Return fresh values by shape."""

    def pick(size: int, letters: str = ALNUM) -> str:
        return "".join(r.choice(letters) for _ in range(size))

    one, two, three = r.sample(WORDS, 3)
    typed = [
        one + pick(r.choice([2, 3, 4]), string.digits),
        one.title() + r.choice("!#*?") + pick(2, string.digits),
        f"{one.title()}{two.title()}{pick(2, string.digits)}",
        f"{one}-{two}-{three}",
        f"{one}_{two}{pick(1, string.digits)}",
        one.replace("e", "3").replace("o", "0").replace("i", "1") + pick(1, string.digits),
        pick(4, string.ascii_letters) + r.choice("@$%^&") + pick(6) + r.choice("!?"),
        one.title() + two.title(),
    ]
    made = [
        pick(24),
        pick(32, HEX),
        pick(40, URL64),
        pick(16, string.ascii_lowercase + string.digits),
        pick(20, string.ascii_uppercase + string.digits),
        pick(12) + "+/" + pick(26) + "==",
        "-".join(pick(n, HEX) for n in (8, 4, 4, 4, 12)),
    ]
    return {"w": [one, two + three], "p": typed, "r": made, "n": [pick(4, "23456789"), pick(6, "123456789")]}


CONTEXTS: dict[str, str] = {
    "login pair": r"""
wp  log in with admin / @@ and open the report
wp  the staging login is deploy / @@
wp  credentials: root / @@
wp  login: alice, password: @@
wp  user alice with password @@
wp  username: bob password: @@
wp  user=svc_app pass=@@
wp  sign in as tester@corp.example with @@
wp  ssh in as deploy, the password is @@
wp  creds are admin:@@ on the old box
wp  account ops, passwort @@
wp  use admin/@@ for the router
wp  Username: admin\\nPassword: @@
wp  - user: carol\n  pass: @@
wp  login as postgres using the password "@@"
wp  the admin password's @@
wp  I set the root password to @@ yesterday
wp  my password is @@, please do not tell
wp  pw: @@
wp  pass: @@
wp  Passwort: @@
wp  Password for the vpn - @@
""",
    "shell argument": r"""
wpr  tool --password @@ --verbose
wpr  tool --password=@@ --verbose
wpr  ./deploy.sh --db-password '@@' --env prod
r    ./deploy.sh --api-key @@ --env prod
r    cli login --token @@
r    cli --auth-token="@@" push
wpr  gpg --batch --passphrase @@ -d f.gpg
wpr  mysql -u root -p@@ shop < dump.sql
wpr  mysqldump --user=root --password=@@ shop
wpr  mysqladmin -uroot -p'@@' status
wpr  sshpass -p @@ ssh root@10.0.0.1
wpr  sshpass -p "@@" scp a b:
wpr  docker login -u bob -p @@ registry.corp.example
wpr  podman login --username bob --password @@ quay.corp.example
wpr  helm registry login -u bob -p @@ r.corp.example
wpr  echo @@ | docker login -u bob --password-stdin
wpr  echo '@@' | sudo -S apt-get update
wpr  sudo -S ls <<< '@@'
wpr  echo "root:@@" | chpasswd
wpr  chpasswd <<< "deploy:@@"
wpr  curl -u admin:@@ https://corp.example/api
wpr  curl -su 'admin:@@' https://corp.example/api
wpr  curl --user admin:@@ https://corp.example/api
wpr  wget --user=bob --password=@@ https://corp.example/f
wpr  http -a bob:@@ GET https://corp.example/x
wpr  curl -d 'user=bob&password=@@' https://corp.example/login
wpr  curl -d '{"user":"bob","password":"@@"}' https://corp.example/login
wpr  curl -F password=@@ https://corp.example/login
r    curl -H 'X-Api-Key: @@' https://corp.example
r    curl -H "Authorization: token @@" https://corp.example
wpr  PGPASSWORD=@@ psql -h db -U app
wpr  psql "host=db user=app password=@@ dbname=shop"
wpr  mongosh -u admin -p @@ mongodb://db
wpr  mongodump --username admin --password @@
wpr  redis-cli -h cache -a @@ ping
wpr  ldapsearch -x -D cn=admin,dc=x -w @@ -b dc=x
wpr  htpasswd -bc users.txt bob @@
wpr  openssl rsa -in k.pem -passin pass:@@
wpr  openssl enc -aes-256-cbc -k @@ -in a -out b
wpr  keytool -list -keystore k.jks -storepass @@
wpr  zip -P @@ -r out.zip dir
wpr  unzip -P @@ out.zip
wpr  7z x out.7z -p@@
wpr  smbclient //nas/share -U bob%@@
wpr  mount -t cifs //nas/s /mnt -o username=bob,password=@@
wpr  xfreerdp /u:bob /p:@@ /v:win
wpr  net user bob @@ /add
wpr  lftp -u bob,@@ sftp://h
wpr  sqlplus scott/@@@db
wpr  sqlcmd -S db -U sa -P @@ -Q "select 1"
wpr  twine upload -u bob -p @@ dist/*
r    twine upload -u __token__ -p @@ dist/*
wpr  az login -u bob@corp.example -p @@
r    az login --service-principal -u app -p @@ --tenant t
r    cargo login @@
r    poetry config pypi-token.pypi @@
r    heroku config:set API_KEY=@@ --app x
r    fly secrets set SESSION_SECRET=@@
wpr  kubectl create secret generic db --from-literal=password=@@
wpr  helm upgrade x . --set postgres.password=@@
wpr  vault kv put secret/db password=@@
r    aws configure set aws_secret_access_key @@
wpr  nmcli dev wifi connect Home password @@
wpr  java -Ddb.password=@@ -jar app.jar
wpr  java -Djavax.net.ssl.keyStorePassword=@@ -jar app.jar
wpr  docker run -e MYSQL_ROOT_PASSWORD=@@ mysql
wpr  docker run --env "POSTGRES_PASSWORD=@@" postgres
wpr  export DB_PASS=@@
wpr  export ADMIN_PASSWORD="@@"
r    set -x GITHUB_PAT @@
wpr  setx DB_PASSWORD @@
wpr  $env:DB_PASSWORD = '@@'
wpr  printf 'PASSWORD=%s\\n' @@ >> .env
r    printf 'TOKEN=%s' @@
r    printf "API_TOKEN=%s\\n" "@@" > .env
wpr  printf '%s' '@@' | docker login --password-stdin
r    echo "API_KEY=@@" >> .env
wpr  echo 'password=@@' > ~/.smbcredentials
wpr  echo DB_PASSWORD=@@ | tee -a .env
wpr  cat > .env <<EOF\nDB_USER=app\nDB_PASSWORD=@@\nEOF
wpr  cat <<'X' > my.cnf\n[client]\nuser=root\npassword=@@\nX
wpr  git clone https://bob:@@@git.corp.example/r.git
wpr  ansible-playbook site.yml -e "ansible_become_pass=@@"
wpr  restic -r s3:x --password-command "echo @@"
wpr  BORG_PASSPHRASE='@@' borg list
wpr  RESTIC_PASSWORD=@@ restic snapshots
wpr  .\setup.exe /password:@@ /quiet
wpr  wpa_passphrase HomeNet @@
wpr  expect -c 'send "@@\\r"' # answers the Password: prompt
wpr  New-LocalUser bob -Password (ConvertTo-SecureString "@@" -AsPlainText -Force)
r    gh secret set DEPLOY_KEY --body "@@"
wpr  ssh-keygen -t ed25519 -N '@@' -f key
wpr  createuser app && psql -c "ALTER USER app PASSWORD '@@'"
""",
    "assignment": r"""
wpr  DB_PASSWORD=@@
wpr  DB_PASSWORD="@@"
wpr  db_password=@@
wpr  spring.datasource.password=@@
wpr  spring.datasource.password = @@
wpr  [client]\nuser = root\npassword = @@\n
wpr  [smtp]\nhost = mail\npassword=@@\n
wpr  database:\n  user: app\n  password: @@\n  port: 5432\n
wpr  database:\n  user: app\n  password: "@@"\n
wpr  database:\n  password: '@@'\n
wpr  ansible_ssh_pass: @@
wpr  mail:\n  smtp_password: @@\n
wpr  env:\n  - name: DB_PASSWORD\n    value: @@\n
wpr  env:\n  - name: DB_PASSWORD\n    value: "@@"\n
wpr  stringData:\n  password: @@\n
wpr  environment:\n  - POSTGRES_PASSWORD=@@\n
wpr  environment:\n  POSTGRES_PASSWORD: @@\n
wpr  {"user": "app", "password": "@@"}
wpr  {"db": {"pass": "@@", "port": 5432}}
wpr  "adminPassword": "@@",
wpr  password = "@@"
wpr  admin_password = "@@"   # rotate
wpr  variable "db_password" {\n  default = "@@"\n}
wpr  <password>@@</password>
wpr  <property name="password" value="@@"/>
wpr  <add key="DbPassword" value="@@" />
wpr  <user name="bob" password="@@"/>
wpr  conn = connect(host="db", user="app", password="@@")
wpr  const password = '@@';
wpr  Password: "@@",
wpr  :password => "@@",
wpr  password: "@@",
wpr  define('DB_PASSWORD', '@@');
wpr  $password = '@@';
wpr  String password = "@@";
wpr  var dbPassword string = "@@"
wpr  let password: &str = "@@";
wpr  cfg['db']['password'] = '@@'
wpr  os.environ["DB_PASSWORD"] = "@@"
wpr  Server=db;Database=shop;User Id=sa;Password=@@;
wpr  jdbc:postgresql://db/shop?user=app&password=@@
wpr  postgresql://app:@@@db:5432/shop
wpr  Environment="DB_PASSWORD=@@"
wpr  ENV DB_PASSWORD=@@
wpr  ENV DB_PASSWORD @@
wpr  ARG NPM_PASSWORD=@@
wpr  machine corp.example login bob password @@
wpr  db:5432:shop:app:@@
wpr  network={\n  ssid="x"\n  psk="@@"\n}
wpr  CREATE USER app WITH PASSWORD '@@';
wpr  CREATE USER 'a'@'%' IDENTIFIED BY '@@';
wpr  SET PASSWORD FOR 'a'@'%' = '@@';
wpr  requirepass @@
wpr  AUTH default @@
wpr  db.createUser({user: "app", pwd: "@@"})
wpr  [repo]\nusername = bob\npassword = @@\n
wpr  | Password | @@ |
wpr  - **Password**: `@@`
wpr  * password: @@
wpr  <input name="password" value="@@">
wpr  with:\n    username: bob\n    password: @@\n
wpr  +    password: @@
wpr  -DB_PASSWORD=@@
wpr  \"password\": \"@@\"
r    api_key: @@
r    apiKey = "@@"
r    secret_key=@@
r    clientSecret: '@@'
r    ACCESS_TOKEN=@@
r    auth_token: "@@"
r    <apiKey>@@</apiKey>
r    app.jwt.secret=@@
r    encryption_key = "@@"
r    webhook_secret: @@
r    signing-key: @@
""",
    "short code": r"""
n  pin: @@
n  PIN=@@
n  "pin": "@@",
n  "pin": @@,
n  otp: @@
n  OTP=@@
n  "otp": "@@"
n  passcode: @@
n  "passcode": @@
n  card_pin = "@@"
n  sim_pin: @@
n  tool --pin @@
n  tool --otp @@
n  tool --passcode=@@
n  the pin is @@
n  the OTP is @@
n  my passcode is @@
n  one-time password: @@
n  the PIN code for the door is @@
n  user_pin=@@
n  <pin>@@</pin>
n  login?user=bob&pin=@@
n  login?user=bob&otp=@@
n  totp_code: "@@"
n  mfa_code=@@
n  npm publish --otp=@@
n  door code: pin @@
wpr  passcode: @@
wpr  "passcode": "@@"
""",
}


def blind_cases(seed: int) -> Iterator[Case]:
    """Yield every context with values of each shape it takes."""
    r = random.Random(seed)
    for group, lines in CONTEXTS.items():
        for line in lines.strip().split("\n"):
            takes, _, form = line.partition("  ")
            form = form.strip().replace("\\n", "\n").replace("\\\n", "\\n")
            for shape in takes.strip():
                value = r.choice(shapes(r)[shape])
                before, _, after = form.partition("@@")
                text = before + value + after.replace("@@", value)
                yield Case(f"{group}/{shape}", form, text, len(before), len(before) + len(value))
