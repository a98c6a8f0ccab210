// A secret in a text is replaced by a mark such as [redacted: github-pat]. This file tests which texts are recognized
// as secrets, and how the marks look.

package secret

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Keys that no service has issued.
const (
	github = "ghp_" + "a8Kz0QpL3vXw9RtY2mNb6CsD1fGh4JkE5uVi"
	aws    = "AKIA" + "Q3EGRZJ7XVKD2MPL"
	mem0   = "m0-" + "x7Kd92LmQpZ4Rt8VbNc1WsYh3Jf6GuEa5oTiXk0B"
)

func TestFind(t *testing.T) {
	for _, c := range []struct{ name, text, rule, secret string }{
		{"alone", github, "github-pat", github},
		{"in a sentence", "The token is " + github + ". Keep it.", "github-pat", github},
		{"next to CJK letters", "密钥是" + aws + "，请保密", "aws-access-token", aws},
		{"after a full-width colon", "api_key：x9Kd82mQpZ4Rt7VbNc1W。", "generic-api-key", "x9Kd82mQpZ4Rt7VbNc1W"},
		{"of a memory product", "MEM0_API_KEY=" + mem0, "mem0-api-key", mem0},
		{
			"in JSON in JSON",
			`{"args":"{\"api_key\": \"x9Kd82mQpZ4Rt7VbNc1W\"}"}`,
			"generic-api-key",
			"x9Kd82mQpZ4Rt7VbNc1W",
		},
		{"a word and a digit", "my password is hunter2", "password-in-sentence", "hunter2"},
		{"before a period", "The wifi password is hunter2xyz.", "password-in-sentence", "hunter2xyz"},
		{"for a place", "the password for the staging box is Summer24!", "password-in-sentence", "Summer24!"},
		{"assigned with spaces", "db password = pelican77", "password-in-sentence", "pelican77"},
		{"digits only", "The passcode is 482913", "password-in-sentence", "482913"},
		{"changed", "the root password was changed to pelican77", "password-in-sentence", "pelican77"},
		{"in German", "Das Passwort lautet Sommer2024!", "password-in-sentence", "Sommer2024!"},
		{"in French", "Le mot de passe est soleil42", "password-in-sentence", "soleil42"},
		{"in Spanish", "la contraseña es girasol9", "password-in-sentence", "girasol9"},
		{"in a URL", "postgres://app:hunter2vw9x@db.example.com/x", "url-password", "hunter2vw9x"},
	} {
		found := Find(c.text)
		if len(found) != 1 || found[0].Rule != c.rule || c.text[found[0].Start:found[0].End] != c.secret {
			t.Errorf("%s: Find(%q) = %v, want %s of %q", c.name, c.text, found, c.rule, c.secret)
		}
	}
}

// TestForms tests that secrets are found in the forms that occur in texts which agents read and write.
func TestForms(t *testing.T) {
	const token, password = "x9Kd82mQpZ4Rt7VbNc1W", "Tr0ub4dor&3x"
	line := strings.Repeat("MIIEvQIBADANBgkq/kiG9w0BAQEFAASC", 2)
	for _, form := range []string{
		`{"env":{"OPENAI_API_KEY":"TOKEN"}}`, `{"a":"{\\\"token\\\":\\\"TOKEN\\\"}"}`,
		"https://a.example/v1?api_key=TOKEN&x=1", "https://TOKEN@github.com/a/b", "https://user:p%40ssW0TOKEN@a/x",
		"export DB_PASSWORD=TOKEN", "export DB_PASSWORD='PASSWORD'", "password: PASSWORD\n", `DB_PASS="PASSWORD"`,
		"api_key:\n  TOKEN", "  token: >-\n    TOKEN\n",
		`curl -H "Authorization: Bearer TOKEN" https://a`, `"curl -H \"Authorization: Bearer TOKEN\" https://a"`,
		"Authorization: Basic dXNlTOKEN=",
		"curl -u admin:TOKEN https://a", "sshpass -p TOKEN ssh a@b", "gh --token TOKEN", "gh --with-password=TOKEN",
		"Cookie: theme=dark; sessionid=TOKEN; x=1", "Set-Cookie: sid=TOKEN; Path=/",
		"machine a.com login u password TOKEN", "machine a.com\n\tlogin u\n\tpassword TOKEN\n", "ya29.TOKENTOKEN",
		"my password is TOKEN", "The API key is `TOKEN`.", "the token for prod is TOKEN", "pass: TOKEN",
		"Passwort: TOKEN", "Пароль: TOKEN", "пароль: TOKEN", "密码：TOKEN", "密码是TOKEN", "mysql -u root -pTOKEN db",
		"mysqldump -p'TOKEN'",
		"-----BEGIN PRIVATE KEY-----\nLINE\nLINE\n-----END PRIVATE KEY-----",
		`"-----BEGIN PRIVATE KEY-----\nLINE\nLINE\n-----END PRIVATE KEY-----\n"`,
		"-----BEGIN RSA PRIVATE KEY-----\nLINE\nLINE\n", `-----BEGIN RSA PRIVATE KEY-----\nLINE\nLI`,
		"-----BEGIN OPENSSH PRIVATE KEY-----\r\n> LINE\r\n> LINE",
		"LINE\nLINE\n-----END EC PRIVATE KEY-----", `LINE\nLINE\n-----END PRIVATE KEY-----`,
	} {
		text := strings.NewReplacer("TOKEN", token, "PASSWORD'", password+"'", `PASSWORD"`, password+
			`"`, "PASSWORD\n", password+"\n", "LINE", line).Replace(form)
		got, _ := (*Redactor)(nil).Redact(text)
		for _, s := range []string{token, password, line[:20]} {
			if strings.Contains(got, s) {
				t.Errorf("Redact(%q) = %q", text, got)
			}
		}
	}
}

func TestFindNothing(t *testing.T) {
	for _, text := range []string{
		"", "the key point is that tokens are counted", "access: denied", "AKIAIOSFODNN7EXAMPLE",
		"api_key = ${API_KEY}", "PrivateKey: testRSA2048PrivateKey", "token = NewEncapsulationKey1024",
		"login, password, points/rewards24", "token = maxFlateBlockTokens", "key: CertAlgoECDSA256v01",
		"nkey: UCARKS2E3KVB7YORL2DG34XLT7PUCOL2SVM7YXV6ETHLW6Z46UUJ2VZ3",
		"key := dk.encryptionKey1024", "LinkedIn **Certifications**",
		"github.com/x/api v0.2.0 h1:cCX1Y2y8v0LZ7+EEJ6gH7dW6TtVTW4RhG0vp3R+N2Lo=",
		"public_key = 04ead218590119e8876b29146ff89ca61770c4ed", "postgres://user:password@db/x",
		"password: {{ password }}", "the sha is da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"keyHex: pkcs8RSAPrivateKeyHex,", "withKey, C.GO_RSA_PKCS1_PADDING", "Authorization: Bearer $TOKEN",
		"password := strings.TrimSpace(x1)", "the password is weak", "the password is base64-encoded", "pass: true",
		"--- PASS: TestWithColons/127.0.0.1:0", "пароль: неизвестен", "Cookie: theme=dark; lang=en",
		"mysql -u root -p database_name", "machine a.com login u password YOUR_PASSWORD_HERE",
		"the token is refreshed", "the API key is rotated every 30 days", "Cookie: session=$SESSION_COOKIE_VALUE",
		"--token YOUR_TOKEN_HERE",
		"the password is hashed with argon2id", "the password is argon2id-hashed", "the password is sha256 of the salt",
		"the password is 12 characters long", "the password is 16-characters", "the password is 2fa-protected",
		"the password is in config2.yaml", "the password is DB_PASSWORD_2", "the password is $PASSWORD1",
		"the password is <password1>", "the password was changed on 2026-11-29",
		"the password was changed to 2026-11-29",
		"password: test1234", "password: changeme123", "the password is password123", "the password is correcthorse",
		"The default password is your1stname", "const INCORRECT_PASSWORD = -2146893773",
		"password = strings.Repeat(x1)", "password = cfg.Password2", "passwords: at least 12", "the password is v1.2.3",
		strings.Repeat(`"enc": "da39a3ee5e6b4b0d3255bfef95601890afd80709",`+"\n", 4) +
			`"key": "1c70cc9e7fd0247c168ca60a571b94bd"`,
	} {
		if found := Find(text); found != nil {
			t.Errorf("Find(%q) = %v, want none", text, found)
		}
	}
}

// TestNamesAndPublicKeys tests that random values are found even if they contain words by chance, and that names and
// public keys, which look like secret keys, are not found.
func TestNamesAndPublicKeys(t *testing.T) {
	for _, text := range []string{
		"pip install sk-learn-contrib-imbalanced-package",
		`<div class="sk-toggleable__content-fitted-estimator sk-dashed-wrapped-container">`,
		"public key: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
		"public_key = AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host",
	} {
		if found := Find(text); found != nil {
			t.Errorf("Find(%q) = %+v", text, found)
		}
	}
	for _, text := range []string{
		"sk-proj-kq7Zx0TqLw8vYhRb3mNcPd5sFgJ2aUeXoI9tKyWr",
		"token: AGE-SECRET-KEY-1QQPQRZXFJSKXLK7K0TRYPZ0SU45Q94TVD5K5XEWKWJ08C3TY7AMQEZM0AC",
		"sk-qxkzjvwbtrgpldnmhcfsyqxkzjvwbtrgpldn",
	} {
		if Find(text) == nil {
			t.Errorf("Find(%q) finds nothing", text)
		}
	}
}

func TestRandomValues(t *testing.T) {
	const letters, n = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 2000
	r := rand.New(rand.NewPCG(1, 2))
	value := func(size int) string {
		b := make([]byte, size)
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		return string(b)
	}
	for form, size := range map[string]int{"api_key = ": 32, "DB_PASSWORD=": 16, "--token=": 24,
		"Authorization: Bearer ": 40, "secret: ": 24, "hvs.": 90} {
		missed := 0
		for range n {
			v := value(size)
			if got, _ := (*Redactor)(nil).Redact("note:\n" + form + v + "\n"); strings.Contains(got, v) {
				missed++
			}
		}
		if missed > n/250 {
			t.Errorf("%s: %d of %d random values are missed", form, missed, n)
		}
	}
	for _, text := range []string{"Authorization: Bearer 8Z5spwnMWVrWJmdiFFFyqqbbNV8lSfixfhL1jwt5",
		"api_key = 5ZaAHIAc1edocSB7GtAe5wDfUseDkhOv", "DB_PASSWORD=TMzDONoICgFtifWH",
		"--token=tQHmYvOVRmFkonaUMwUkUqHH",
		"hvs.NCyfjeEaGyZqjJoiFpKZsRaSqTa9DTvk4WaaB3xzXpMZuZN8Ab5KbH0FZk4XdxKIADjJpz6ZFkn7XvgKJWSKhK7EGY",
		"VAULT hvs.lsH8R2MrKa90LLTiPRNSI3Ty"} {
		if len(Find(text)) != 1 {
			t.Errorf("Find(%q) finds nothing", text)
		}
	}
}

func TestRedact(t *testing.T) {
	dir := t.TempDir()
	r := NewRedactor(dir)
	text := "first " + github + ", then " + aws + ", then " + github + " again"
	got, found := r.Redact(text)
	want := regexp.MustCompile(
		`^first \[redacted: github-pat #([0-9a-f]{8})\], then \[redacted: aws-access-token #[0-9a-f]{8}\], then \[redacted: github-pat #([0-9a-f]{8})\] again$`,
	)
	m := want.FindStringSubmatch(got)
	if m == nil || m[1] != m[2] || len(found) != 3 {
		t.Fatalf("Redact() = %q, %v", got, found)
	}
	if again, found := NewRedactor(dir).Redact(got); again != got || found != nil {
		t.Errorf("a second time: %q, %v", again, found)
	}
	if same, _ := NewRedactor(dir).Redact(text); same != got {
		t.Errorf("by another process: %q, want %q", same, got)
	}
	if other, _ := NewRedactor(t.TempDir()).Redact(text); other == got {
		t.Error("another home has the same tags")
	}
	fi, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || (runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600) {
		t.Errorf("the key: %v, %v", fi, err)
	}
	for _, none := range []*Redactor{nil, NewRedactor(filepath.Join(dir, "missing"))} {
		if got, _ := none.Redact(github); got != "[redacted: github-pat]" {
			t.Errorf("without a key: %q", got)
		}
	}
}

// TestNoMark tests that a text which only looks like a mark does not hide a secret.
func TestNoMark(t *testing.T) {
	for _, text := range []string{
		"[redacted: " + github + "]", "[redacted: github-pat #" + github + "]", "[redacted: nothing #00000000] " +
			github,
		"[redacted: github-pat #" + strings.ToUpper("abcdef01") + "]" + github,
	} {
		if got, _ := NewRedactor(t.TempDir()).Redact(text); strings.Contains(got, github) {
			t.Errorf("Redact(%q) = %q", text, got)
		}
	}
}

// FuzzRedact tests that a redacted text contains no more secrets, and that a second redaction does not change the
// text.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{github, "key=" +
		aws, "[redacted: github-pat #01234567]", "curl -u a:bcdef http://x", "-----BEGIN PRIVATE KEY-----",
		"kind: Secret\ndata:\n  a: " + github} {
		f.Add(s)
	}
	r := NewRedactor(f.TempDir())
	f.Fuzz(func(t *testing.T, text string) {
		for _, f := range Find(text) {
			if f.Start >= f.End || f.Rule == "" {
				t.Fatalf("Find(%q) has %v", text, f)
			}
		}
		got, _ := r.Redact(text)
		if left := Find(got); left != nil {
			t.Fatalf("Redact(%q) = %q: %v is left", text, got, left)
		}
		if again, _ := r.Redact(got); again != got {
			t.Fatalf("Redact(%q) = %q, want no change", got, again)
		}
	})
}
