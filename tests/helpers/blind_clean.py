"""Lines without a secret that look as if they had one; written before the rules that have to leave them alone.

Each line, and each block between blank lines of `BLOCKS`, is a text of its own.
"""

from __future__ import annotations

LINES = r"""
mkdir -p build/release
docker run -p 8080:80 nginx
docker compose -p shopfront up -d
ssh -p 2222 deploy@corp.example
scp -p notes.txt host:/tmp/
cp -pr source target
psql -h db -p 5432 -U app shop
mysql -h db -P 3306 -u app -p shop
mysql -uroot -p
mysqldump -u root -p --single-transaction shop
nmap -p 22,80,443 10.0.0.0/24
grep -P '\bfoo\b' file
tar -xpf archive.tar
ps -p 4711 -o cmd
git push -u origin main
git add -p src/app.py
lsof -p 12345
kill -p nginx
iptables -A INPUT -p tcp --dport 22 -j ACCEPT
tail -n 20 -p file
rsync -avp a/ b/
adb -p /dev/ttyUSB0
pip install -p python3.11 wheel
sort -u names.txt
useradd -m -p '' tester
docker login ghcr.io -u bob --password-stdin
docker login registry.corp.example
echo $TOKEN | docker login -u bob --password-stdin
echo "$PASSWORD" | sudo -S ls
echo ${PASS} | sudo -S ls
cat token.txt | gh auth login --with-token
curl -u $USER:$PASS https://corp.example
curl -u "${USER}:${PASS}" https://corp.example
curl -u user https://corp.example/private
curl -u username:password https://api.corp.example
curl --netrc https://corp.example
curl -H "Authorization: Bearer ${TOKEN}" https://corp.example
curl -H "X-Api-Key: $API_KEY" https://corp.example
curl -d "grant_type=password&username=$U&password=$P" https://corp.example
http -a user:password GET https://corp.example
sshpass -e ssh host
sshpass -f /run/secrets/pw ssh host
sshpass -p "$SSHPASS" ssh host
openssl rsa -in k.pem -passin env:KEYPASS
openssl rsa -in k.pem -passin file:/run/pw
keytool -list -storepass:env STOREPASS
gpg --batch --passphrase-file /run/pw -d f.gpg
gpg --pinentry-mode loopback --passphrase-fd 0
restic --password-file /etc/restic/pw snapshots
restic --password-command "pass show restic" snapshots
ansible-playbook site.yml --ask-vault-pass
ansible-vault encrypt --vault-password-file pw.txt x.yml
tool --password-file secrets/db.txt
tool --password $DB_PASSWORD
tool --password "$(pass show db)"
tool --password <password>
tool --password PASSWORD
tool --password [PASSWORD]
tool --token TOKEN --user USER
tool --token-ttl 3600 --token-type jwt
tool --no-password --verbose
tool --password --verbose
tool --api-key-name default
tool --secret-name prod/db
tool --key-path ~/.ssh/id_ed25519 --key-type rsa
tool --auth-mode token --auth-provider github
  --password PASSWORD     the password of the user
  --password=PASS         prompt for the password
  -p, --password <PASSWORD>  Password or token to authenticate
  --passphrase-file FILE  read the passphrase from FILE
  -P, --port PORT         port number
  --pin NUMBER            the number of the pin
  --otp CODE              one-time password for two-factor authentication
  --token string          bearer token for authentication (env CI_TOKEN)
printf '%s\n' "$name"
printf 'name=%s\n' value
printf 'TOKEN=%s\n' "$TOKEN" >> .env
printf "PASSWORD=%s" "${DB_PASSWORD}"
printf 'user=%s password=%s\n' "$u" "$p"
echo "DB_PASSWORD=$DB_PASSWORD" >> .env
echo "password:"
echo "Enter password: "
read -s -p "Password: " PASSWORD
read -rsp 'Token: ' token
export TOKEN=$(gh auth token)
export PASSWORD=`pass show db`
export DB_PASSWORD="$(cat /run/secrets/db)"
export API_KEY=${API_KEY:-}
export PASSWORD=
DB_PASSWORD=
DB_PASSWORD=""
DB_PASSWORD=changeme
DB_PASSWORD=<secret>
DB_PASSWORD=${DB_PASSWORD}
DB_PASSWORD_FILE=/run/secrets/db_password
POSTGRES_HOST_AUTH_METHOD=trust
PASSWORD_HASHERS=argon2
PASSWORD_MIN_LENGTH=12
PASSWORD_RESET_TIMEOUT=259200
TOKEN_EXPIRY=3600
SECRET_PROVIDER=vault
KEY_VAULT_NAME=corp-vault
SSH_AUTH_SOCK=/tmp/agent.sock
PASSWORD_POLICY=strict
AUTH_METHOD=password
AUTH_TYPE=oauth
LOGIN_METHOD=passkey
USE_PASSWORD=false
SESSION_DRIVER=redis
SESSION_COOKIE=laravel_session
CACHE_KEY=homepage
PIN_COUNT=40
GPIO_PIN=17
LED_PIN=13
OTP_LENGTH=6
OTP_ENABLED=true
password: str
password: string
password: String!
password: Optional[str] = None
password: SecretStr
password: z.string().min(8)
password: Joi.string().required()
password: required
password: optional
password: hidden
password: encrypted
password: null
password: ~
password: ""
password: none
password: false
password: required|min:8|confirmed
password: ${DB_PASSWORD}
password: {{ vault_password }}
password: "{{ db.password }}"
password: !vault |
password: !secret db_password
password: !ref DbPassword
password: *default_password
password: ENC[AES256_GCM,data:Tr7o=,tag:xx=]
password: $ANSIBLE_VAULT;1.1;AES256
password: <your password>
password: your-password-here
password: ********
password: [hidden]
password: (unchanged)
password: prompt
password: password
password: user.password
password: hash(raw)
password: bcrypt.hash(raw, 10)
password: newPassword,
password: hashed,
password: req.body.password,
password: faker.internet.password(),
password=password,
password=None,
password=getpass(),
password=os.environ["PW"],
password=settings.DB_PASSWORD,
password=self.password
password = getpass.getpass()
password = getpass
password = raw.strip()
password = form.cleaned_data["password"]
password = request.form.get("password")
password = config
password = hashlib.sha256(raw).hexdigest()
password = user.password
password = models.CharField(max_length=128)
password = forms.CharField(widget=forms.PasswordInput)
password = input("Password: ")
password = "password"
password = "your-password"
password = "***"
password = ''
const password = watch("password");
const [password, setPassword] = useState("");
let password = document.querySelector("#password").value;
var password string
Password string `json:"password"`
private String password;
String password = request.getParameter("password");
public string Password { get; set; }
@Column(name = "password")
validates :password, presence: true, length: { minimum: 8 }
attr_accessor :password
has_secure_password
if password == "":
if (password === confirmPassword) {
assert password != "secret"
raise ValueError("password: too short")
"password": "string"
"password": "Password",
"password": "Passwort",
"password": "Mot de passe",
"password": "Contraseña",
"password": "Wachtwoord",
"password": "Hasło",
"password": "パスワード",
"password": "required",
"password": {"type": "string", "format": "password"},
"password": null,
"password": true,
"password": "",
"password": "********",
"password": "{{password}}",
"password": "${password}",
"password": "%env(DB_PASSWORD)%",
"passwordLabel": "Your password",
"password_hint": "the usual one",
"forgotPassword": "Forgot password?",
"confirm_password": "Confirm password",
"type": "password",
"name": "password",
"grant_type": "password",
"tokenType": "bearer",
"token": "string",
"secretName": "tls-secret",
"secretRef": "database",
"keyName": "primary",
"authMethod": "password",
<input type="password" name="password" placeholder="Password">
<input name="password" value="">
<label for="password">Password</label>
<password>${db.password}</password>
<password></password>
<property name="password" value="${jdbc.password}"/>
<add key="PasswordPolicy" value="strict" />
<string name="password">Password</string>
<string name="forgot_password">Forgot password</string>
Password must have at least eight characters.
Passwords do not match.
Password: at least 12 characters, one of them a digit
The password is required.
The password is incorrect.
The password is hashed with bcrypt.
The password is stored in the keyring.
The password was changed yesterday.
The password was rejected by the server.
The password is wrong, try again.
The password field is empty.
The password is optional here.
The password is expired.
The password is sent in clear text.
The password is "required" by the schema.
the password is always prompted for
the password for staging is in the vault
my password is not accepted
use the password manager
use password authentication
use a password of sixteen characters
log in with your password
log in with username and password
log in with github / gitlab
sign in with Google or GitHub
login / logout buttons
login/password form
login and password fields
user/password pair
username/password combination
user / group permissions
the admin/settings page
account / billing section
admin / editor / viewer roles
credentials: include
credentials: same-origin
credentials: 'include',
credentials are read from the keyring
credentials are stored encrypted
creds are injected by the runner
user alice with role admin
user bob with permission denied
user root with shell access
Username: required
Username: string, Password: string
pass: true
pass: 12, fail: 3
pass: all tests
pass=1 fail=0
pass: function
- pass: boolean
pass: the first argument
pw: width in pixels
pin: number
pin: 13
pin: 4
pin: GPIO17
pin: {"type": "integer"}
pin = 13
"pin": 7,
pin the version to 1.2.3
pin: v1.2.3
pinned: true
the pin is bent
the pin is soldered
pin 4711 in the netlist
spin: 4000
otp: true
otp: required
otp: string
otp = pyotp.TOTP(secret)
"otp": null
"otp": "string"
the OTP is sent by mail
the OTP expires after 30 seconds
otp_length: 6
passcode: required
passcode: string
the passcode is optional
port: 4711
code: 482913
error code: 404123
zip code: 90210
status code: 200
pincode: required
postal pin code: see below
year pin: 2024
secret: true
secret: generic
secret: my-secret
secretKeyRef: name
the secret is mounted at /run/secrets
the secret to success is patience
the secret is out
the token is expired
the token is invalid
the token is refreshed hourly
the token count is 48211
token: word
tokens: 128000
max_tokens: 4096
key: value
key: homepage
keys: left right up down
primary key: id
the key is missing
the key is pressed
the api key is missing
api_key: required
api_key = None
api_key: str
api-key: ${API_KEY}
auth: none
auth: basic
auth: required
authentication: password
authorization: rbac
session: none
cookie: strict
salt: pinch
seed: 42
CREATE USER app WITH PASSWORD :pw;
CREATE USER app IDENTIFIED BY $1;
ALTER USER app WITH PASSWORD %(password)s;
ALTER USER app VALID UNTIL 'infinity';
IDENTIFIED WITH mysql_native_password
GRANT ALL ON *.* TO 'app'@'%';
# password   required   pam_unix.so
auth required pam_permit.so
requirepass $REDIS_PASSWORD
machine corp.example login bob password $PW
/home/bob/password.txt:12: no such key
db:5432:shop:app:*
localhost:3000:80:tcp
10.0.0.1:8080:/app:ro
postgres://app@db/shop
postgres://app:$PW@db/shop
postgres://user:pass@localhost/db
https://corp.example/reset?token={token}
https://corp.example/docs/password-policy
https://corp.example/?pin=true&tab=keys
https://corp.example/search?q=password
https://corp.example/login?next=/home&user=bob
net user bob /domain
net use z: \\nas\share /user:bob
zip -r out.zip dir
unzip -p out.zip a.txt
unzip -P
7z a out.7z dir
7z x out.7z -pPASSWORD
redis-cli -h cache -a "$REDIS_PASS" ping
redis-cli -h cache ping
mongosh -u admin -p --authenticationDatabase admin
ldapsearch -x -W -D cn=admin
ldapsearch -x -D cn=admin -w "$PW"
htpasswd -c users.txt bob
passwd bob
su - postgres
az login --use-device-code
twine upload dist/*
cargo login
npm login --scope=@corp
npm publish --otp=$OTP
helm upgrade x . --set image.tag=v2 --set replicas=3
kubectl get secret db -o yaml
kubectl create secret generic db --from-file=password=./pw.txt
kubectl create secret generic db --from-literal=password=$PW
vault kv get -field=password secret/db
vault kv put secret/db password=@pw.txt
aws configure set region eu-west-1
heroku config:set LOG_LEVEL=debug
gh secret set DEPLOY_KEY < key.pem
gh secret set DEPLOY_KEY --body "$KEY"
nmcli dev wifi connect Home --ask
java -Duser.language=en -jar app.jar
java -Djavax.net.ssl.trustStore=trust.jks -jar app.jar
ssh-keygen -t ed25519 -N '' -f key
ssh-keygen -t ed25519 -C bob@corp.example
createuser --pwprompt app
ENV PATH=/usr/local/bin:$PATH
ENV NODE_ENV=production
ARG TOKEN
ARG PASSWORD=
- POSTGRES_PASSWORD
- POSTGRES_PASSWORD=${PW}
env_file: secrets.env
run: echo "${{ secrets.DB_PASSWORD }}"
| Password | yes | The password of the user |
| token | string | required |
| `password` | `string` | The new password. |
- **password**: the user's password
- `password` (string): the password
* password - required, 8 to 64 characters
:param password: the password to use
:param str token: token for the request
@param password the password
:type password: str
Args: password: Password of the account.
password (str): The password.
>>> user.check_password("x")
assertEqual(user.password, hashed)
TODO: rotate the password
feat(auth): add password reset
fix: token refresh loop
WARNING: password authentication is deprecated
ERROR: invalid password for user bob
FATAL: password authentication failed for user "app"
Access denied for user 'root'@'localhost' (using password: YES)
Permission denied (publickey,password).
[sudo] password for bob:
Enter PIN for key:
Verification code:
password:\n
keyboard-interactive/pam for bob
Authentication: password, publickey
"""

BLOCKS = """
{
  username: name,
  password: hashed
}

new Client({
  user: account,
  password: credential
})

login(
    user=name,
    password=word
)

class Login(BaseModel):
    username: str
    password: word

def connect(user, password):
    password = prepared
    return password

schema:
  type: object
  properties:
    password:
      type: string
      format: password

rules:
  username: required
  password: required
  remember: optional

labels:
  username: Username
  password: Password
  submit: Submit

[tool.lint]
password = disabled
token = ignore

interface Login {
  username: string
  password: string
}

type Login struct {
	Username string
	Password string
}

message Login {
  string username = 1;
  string password = 2;
}

const messages = {
  login: 'Login',
  password: 'Password',
  forgot: 'Forgot your password?'
}

de:
  login: Anmelden
  password: Passwort
  submit: Absenden

en:
  password: "Password"
  passcode: "Passcode"
  pin: "Pin"

leds:
  - pin: 17
    color: red
  - pin: 27
    color: green

board = {
    "sda": {"pin": 21},
    "scl": {"pin": 22},
}

usage: tool [-h] [-p PASSWORD] [-u USER]

optional arguments:
  -h, --help            show this help message and exit
  -p PASSWORD, --password PASSWORD
                        password of the account

$ passwd bob
New password:
Retype new password:
passwd: password updated successfully

resource "random_password" "db" {
  length  = 16
  special = true
}

variable "db_password" {
  type        = string
  description = "password of the database"
  sensitive   = true
}

output "password" {
  value = random_password.db.result
}
"""


def clean_texts() -> list[str]:
    """Return every line and every block."""
    lines = [line for line in LINES.split("\n") if line.strip()]
    return [*lines, *(block.strip("\n") for block in BLOCKS.split("\n\n") if block.strip())]
