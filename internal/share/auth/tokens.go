// This file declares the tokens that identify clients, and parses the file that contains them.

package auth

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/profile"
)

// Limits of a token file.
const (
	MaxTokenFileBytes = 1 << 20 // maximum size of a token file in bytes
	maxTokensPerFile  = 1000    // maximum number of tokens in a token file
	minSecretChars    = 16      // minimum number of characters in a secret
)

// A Token identifies a client by its secret.
type Token struct {
	Name    string // name that is shown to people ("" if the server has a single token, which lacks a name)
	Line    int    // line of the token in the token file, starting at 1 (0 if the token is not from a file)
	Tenant  string // tenant whose memory the token gives access to ("" for the server's own home)
	Purpose string // "metrics" if the token may only read the server's metrics, and "" if it gives access to a memory
	Rights  Permissions

	secretDigest [sha256.Size]byte // digest of the secret (the secret itself is not stored)
}

// NewToken returns a token with the given name, secret and permissions.
func NewToken(name, secret string, r Permissions) Token {
	return Token{Name: name, Rights: r, secretDigest: sha256.Sum256([]byte(secret))}
}

// Title returns a name for the permissions of the token. If the permissions do not allow a call, the error contains
// this name.
func (t Token) Title() string {
	if t.Name == "" {
		return "the rights of this server"
	}
	return "the rights of token " + strconv.Quote(t.Name)
}

// Tokens contains all accepted tokens.
type Tokens []Token

// FindBySecret returns the token with a secret. It returns false if such a token does not exist. FindBySecret compares
// the secret's digest with the digests of all tokens. All digests have the same length, so the running time reveals
// nothing about the tokens.
func (ts Tokens) FindBySecret(secret string) (Token, bool) {
	have := sha256.Sum256([]byte(secret))
	index := -1
	for i := range ts {
		// Set index to i if the digests are equal. No branch is used, because the running time would then depend on
		// the digests.
		index = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(have[:], ts[i].secretDigest[:]), i, index)
	}
	if index < 0 || secret == "" {
		return Token{}, false
	}
	return ts[index], true
}

// hashedSecretPrefix is the start of a secret that the token file contains as its SHA-256 digest in hexadecimal. A
// slower hash function is not necessary, because secrets are long and random.
const hashedSecretPrefix = "sha256:"

// ParseTokens parses the data of a token file. The parameter file is the path of the token file, which error messages
// contain. Most lines define a token, with its name, its secret and its rights. The right ro allows reading, and rw
// also allows writing. An empty line is ignored.
//
//	# name  secret                              rights
//	ci      kE0v1sVQxqB8oVbW2mZt5w              ro project=harbor kind=note
//	vtt     sha256:9f86d081884c7d659a2feaa0...  rw profile=vtt-developer
//
// Words are separated by spaces or tabs. A value that contains spaces must be in double quotes (project="old harbor").
// A name consists of at most 64 ASCII letters, digits, dots, dashes and underscores. A secret has at least 16
// characters and no spaces, or is replaced by sha256: and its digest in 64 hexadecimal digits. Either ro or rw is
// required. The words project= and kind= limit the token to entries with this project or kind. They may be repeated,
// and then entries with any of the values may be used. The word profile= limits the token to the named profile. A word
// that starts with # starts a comment. Names and secrets must be unique.
//
// A token with only=metrics can be used to read /metrics, but not to use a memory. In this case, ro may be omitted.
//
// A token with tenant= gives access to the memory of that tenant. A line that begins with tenant= is not a token. It
// limits the data of the tenant and the number of its changes per second:
//
//	ops          kE0v1sVQxqB8oVbW2mZt5w   rw tenant=acme
//	tenant=acme  entries=100000 bytes=500MB writes=50
//
// The result ts contains the tokens. The result quotas contains the limits by tenant. The error is a
// [profile.Diagnostics] with the file and the line of each problem. The error contains no secrets.
func ParseTokens(file string, data []byte) (ts Tokens, quotas map[string]Quota, err error) {
	quotas = map[string]Quota{}
	var wrong profile.Diagnostics
	add := func(line int, format string, args ...any) {
		wrong = append(wrong, profile.Diagnostic{File: file, Line: line, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case len(data) > MaxTokenFileBytes:
		add(0, "has more than %d bytes, which is the most", MaxTokenFileBytes)
		return nil, nil, wrong
	case !utf8.Valid(data):
		add(0, "is not UTF-8 text")
		return nil, nil, wrong
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		words, err := splitTokenLine(line)
		if err != nil {
			add(n, "%v", err)
			continue
		}
		if len(words) == 0 {
			continue
		}
		if isQuota, err := addQuota(quotas, words); isQuota {
			if err != nil {
				add(n, "%v", err)
			}
			continue
		}
		t, err := parseToken(words)
		if err != nil {
			add(n, "%v", err)
			continue
		}
		t.Line = n
		if i := slices.IndexFunc(ts, func(o Token) bool { return o.Name == t.Name }); i >= 0 {
			add(n, "there is a token %q already, in line %d", t.Name, ts[i].Line)
			continue
		}
		if i := slices.IndexFunc(ts, func(o Token) bool { return o.secretDigest == t.secretDigest }); i >= 0 {
			add(n, "token %q has the secret of %q, in line %d", t.Name, ts[i].Name, ts[i].Line)
			continue
		}
		if len(ts) == maxTokensPerFile {
			add(n, "there are more than %d tokens, which is the most", maxTokensPerFile)
			break
		}
		ts = append(ts, t)
	}
	if len(ts) == 0 && len(wrong) == 0 {
		add(0, "holds no token; a line is: NAME SECRET ro, or rw")
	}
	if len(wrong) > 0 {
		return nil, nil, wrong
	}
	return ts, quotas, nil
}

// splitTokenLine splits a line into words, and removes quotes and comments.
func splitTokenLine(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		var w strings.Builder
		for line != "" && !strings.ContainsRune(" \t\r\n", rune(line[0])) {
			if line[0] != '"' {
				w.WriteByte(line[0])
				line = line[1:]
				continue
			}
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("a quote does not end")
			}
			s, err := strconv.Unquote(q)
			if err != nil {
				return nil, fmt.Errorf("the quoted %s cannot be read", q)
			}
			w.WriteString(s)
			line = line[len(q):]
		}
		words = append(words, w.String())
	}
}

// tokenOptions lists the keys that may follow the rights in the line of a token. The rights are ro (only reading) or rw
// (reading and writing). An option has the form KEY=VALUE, for example project=vtt.
var tokenOptions = []string{"profile", "project", "kind", "tenant", "only"}

func parseToken(words []string) (Token, error) {
	if len(words) < 3 {
		return Token{}, fmt.Errorf("a token is NAME SECRET ro, or rw; this line has %d of these words", len(words))
	}
	t := Token{Name: words[0]}
	if err := checkName(t.Name); err != nil {
		return t, err
	}
	var err error
	t.secretDigest, err = parseSecretDigest(words[1])
	if err != nil {
		return t, err
	}
	rest := words[3:]
	switch words[2] {
	case "ro":
		t.Rights.ReadOnly = true
	case "rw":
	case "only=" + purposeMetrics: // A metrics token cannot read or change a memory, so the word ro or rw is left out.
		t.Rights.ReadOnly, rest = true, words[2:]
	default:
		return t, fmt.Errorf("the rights of token %q are neither ro nor rw", t.Name)
	}
	for _, w := range rest {
		key, value, _ := strings.Cut(w, "=")
		if !slices.Contains(tokenOptions, key) {
			// If no option is similar to the unknown word, do not quote the word in the error. The word may be a secret
			// in the wrong place.
			near := text.FindSimilar(key, slices.Values(tokenOptions), 1)
			if len(near) == 0 {
				return t, fmt.Errorf(
					"what can follow the rights of token %q is profile=NAME, project=NAME, kind=KIND, tenant=NAME "+
						"and only=metrics",
					t.Name,
				)
			}
			return t, fmt.Errorf("%q is not known; did you mean %s=VALUE?", text.TruncateWithEllipsis(key, 40), near[0])
		}
		if value == "" {
			return t, fmt.Errorf("%s has no value: write %s=VALUE", key, key)
		}
		if err := t.setOption(key, value); err != nil {
			return t, err
		}
	}
	return t, t.Rights.CheckProjectsAndKinds()
}

// setOption sets an option of a token.
func (t *Token) setOption(key, value string) error {
	switch key {
	case "profile":
		if t.Rights.Profile != "" {
			return fmt.Errorf(
				"a token is bound to one profile; this has %q and %q",
				t.Rights.Profile,
				text.TruncateWithEllipsis(value, 40),
			)
		}
		t.Rights.Profile = value
		return profile.CheckName(value)
	case "project":
		t.Rights.Projects = append(t.Rights.Projects, value)
	case "kind":
		t.Rights.Kinds = append(t.Rights.Kinds, value)
	case "only":
		if value != purposeMetrics {
			return fmt.Errorf("what a token can be for alone is metrics: only=metrics")
		}
		t.Purpose = value
	case "tenant":
		if t.Tenant != "" {
			return fmt.Errorf("a token is of one tenant; this has two")
		}
		t.Tenant = value
		return CheckTenant(value)
	}
	return nil
}

func checkName(name string) error {
	for i := range len(name) {
		c := name[i]
		if !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strings.IndexByte("._-", c) >= 0) {
			return fmt.Errorf(
				"a token's name is made of letters, digits, dots, dashes and underscores; the first word of this " +
					"line is not",
			)
		}
	}
	if name == "" || len(name) > 64 {
		return fmt.Errorf("a token's name has 1 to 64 characters; this has %d", len(name))
	}
	return nil
}

// parseSecretDigest returns the digest of a secret. The argument s is the word in the token file: the secret itself, or
// hashedSecretPrefix and the digest in hexadecimal.
func parseSecretDigest(s string) (digest [sha256.Size]byte, err error) {
	if rest, ok := strings.CutPrefix(s, hashedSecretPrefix); ok {
		b, err := hex.DecodeString(rest)
		if err != nil || len(b) != len(digest) {
			return digest, fmt.Errorf(
				"%s is not followed by %d hexadecimal digits; printf %%s SECRET | sha256sum gives them",
				strings.TrimSuffix(hashedSecretPrefix, ":"),
				2*len(digest),
			)
		}
		return [sha256.Size]byte(b), nil
	}
	for _, r := range s {
		if r <= ' ' || r >= 0x7f {
			return digest, fmt.Errorf("the secret holds what a header cannot: use letters, digits and signs of ASCII")
		}
	}
	if len(s) < minSecretChars {
		return digest, fmt.Errorf(
			"the secret is shorter than %d characters; make one at random: openssl rand -base64 24",
			minSecretChars,
		)
	}
	return sha256.Sum256([]byte(s)), nil
}
